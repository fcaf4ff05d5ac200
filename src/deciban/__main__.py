"""``python -m deciban`` is the command ``deciban``."""

from deciban.cli import main

if __name__ == "__main__":
    main()
