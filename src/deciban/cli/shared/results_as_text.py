"""What the command line would print about a result, as text: for ``table()`` of results, and for notebooks."""

from __future__ import annotations

import io
from typing import Any

from deciban.analysis.comparison import Comparison
from deciban.cli.shared.table_writers import STYLES, UNLIMITED, WRITERS
from deciban.cli.shared.tables import TableConsole, print_results
from deciban.errors import InputError
from deciban.evaluation.results import Results


def as_text(result: Any, style: str = "plain", *, width: int | None = None, all_classes: bool = False) -> str:
    """Write the tables and notes of a result.

    Parameters
    ----------
    result : Results, Evaluation, ClassEvaluation, Comparison or Trained
    style : str
        One of those that the command line knows, or ``"html"``.
    width : int, optional
        Of plain tables; left out, there is no limit.
    all_classes : bool

    Returns
    -------
    str

    Raises
    ------
    InputError
        If the style is none, or the width is too small for anything.
    """
    if style not in (*STYLES, *WRITERS):
        raise InputError(f"style: got {style!r}. There are {', '.join(dict.fromkeys((*STYLES, *WRITERS)))}.")
    given: Any = width
    if given is not None and (not isinstance(given, int) or given < _LEAST):
        raise InputError(f"width: got {width!r}. It is a whole number of letters, {_LEAST} or more.")
    written = io.StringIO()
    out = TableConsole(style, file=written, width=width or UNLIMITED, color_system=None, force_terminal=False)
    if isinstance(result, Comparison):
        from deciban.cli.shared.comparison_tables import print_comparison

        print_comparison(result, out)
    elif isinstance(result, Results) or not hasattr(result, "rows"):
        shown = result if isinstance(result, Results) else Results((result,))
        if shown.systems:
            print_results(shown, out, all_classes=all_classes)
    else:
        from deciban.cli.shared.training import print_trained

        print_trained(result, out)
    return written.getvalue()


_LEAST = 20
