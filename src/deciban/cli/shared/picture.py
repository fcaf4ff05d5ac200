"""The picture that a command writes: where, in which format, and in which size."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import click

from deciban.cli.shared.parsing import require_writable

_ENDINGS: dict[str, Literal["svg", "png", "pdf"]] = {".svg": "svg", ".png": "png", ".pdf": "pdf"}


@dataclass(frozen=True, slots=True)
class Picture:
    """What was said of a picture.

    Attributes
    ----------
    path : Path or None
        None where none is wanted.
    size : str or None
        For print; see `deciban.plots.print_style`.
    """

    path: Path | None
    size: str | None = None

    def require(self) -> None:
        """Refuse an ending that is none of a picture, a folder that is not there, and a size of no picture.

        Raises
        ------
        click.UsageError
        """
        if self.path is None:
            if self.size is not None:
                raise click.UsageError("--size is about the picture: name a file for it, as in -o picture.pdf.")
            return
        require_writable(self.path, endings=tuple(_ENDINGS))
        if str(self.path) == "-":
            raise click.BadParameter("'-' should end in .svg, .png or .pdf: its name says the format.", param_hint="-o")

    def save(self, draw: Callable[[], Any]) -> None:
        """Draw, in the size for print if there is one, and write the picture, whole or not at all."""
        from deciban import plots
        from deciban.io import atomic_write

        if self.path is None:
            return
        with plots.print_style(self.size) if self.size else nullcontext():
            drawing = draw()
            with atomic_write(self.path) as stream:
                plots.save(drawing, stream, _ENDINGS[self.path.suffix.casefold()])

    @property
    def paths(self) -> list[Path]:
        """What is written."""
        return [] if self.path is None else [self.path]

    @property
    def written(self) -> str:
        """What is said when it is there."""
        from deciban._files import display_name

        return f"wrote {display_name(self.path)}" if self.path is not None else ""
