"""Entry point of ``python -m deciban``, the same as the command ``deciban``."""

from deciban.cli import main

if __name__ == "__main__":
    main()
