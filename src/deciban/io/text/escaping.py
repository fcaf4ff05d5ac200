"""Fields of text tables: what a name must not hold so that it is read as it was written, and quotes where they help."""

from __future__ import annotations

import pyarrow as pa

from deciban._arrow import compute as pc
from deciban._arrow import constant
from deciban.errors import FormatError

_FORBIDDEN = {
    " ": (r"[ \t\v\f\n\r\x00]", "white space"),
    "\t": (r"[\t\v\f\n\r\x00]|^ | $", "a tab, a line break, or a blank at an end"),
    ",": (r"[\v\f\n\r\x00]|^[ \t]|[ \t]$", "a line break, or a blank at an end"),
}
"""For each delimiter what no field can hold, as a regular expression and in words; quotes do not help."""

_QUOTED = r'[,"]'
_COMMENT = "^(?:#|;;|\ufeff)"


def check_names(
    names: pa.Array, what: str, format_name: str, delimiter: str, *, first: bool, may_be_empty: bool = False
) -> None:
    """Refuse names that would not be read as they are.

    Parameters
    ----------
    names : pyarrow string array
    what : str
        What they are, for the message.
    format_name : str
    delimiter : str
        A blank (any white space), a tab or a comma.
    first : bool
        Whether they stand at the beginning of a line, where a comment would.
    may_be_empty : bool

    Raises
    ------
    FormatError
        Naming the first that does not fit.
    """
    pattern, words = _FORBIDDEN[delimiter]
    if not may_be_empty:
        _refuse(names, pc.equal(names, constant("")), what, format_name, "is empty")
    _refuse(names, pc.match_substring_regex(names, pattern), what, format_name, f"holds {words}")
    if first and delimiter != ",":
        commented = pc.match_substring_regex(names, _COMMENT)
        _refuse(names, commented, what, format_name, "begins as a comment or a byte order mark does")


def _refuse(names: pa.Array, wrong: pa.BooleanArray, what: str, format_name: str, why: str) -> None:
    count = pc.sum(wrong).as_py()
    if count:
        name = names[pc.index(wrong, value=True).as_py()].as_py()
        shown = repr(name if len(name) <= 60 else name[:57] + "...")
        others = f" (and {count - 1} more like it)" if count > 1 else ""
        way_out = "parquet" if format_name in ("table", "lir") else "table, which is CSV, or parquet"
        raise FormatError(
            f"{format_name} cannot hold the {what} {shown}{others}: it {why}. Choose another format ({way_out}), or "
            "rename what is called so."
        )


def quoted(fields: pa.Array, delimiter: str, *, first: bool) -> pa.Array:
    """Put quotes around fields where commas separate them and one would be misread.

    Examples
    --------
    >>> quoted(pa.array(["a", "b,c", 'd"e', "#f"]), ",", first=True).to_pylist()
    ['a', '"b,c"', '"d""e"', '"#f"']
    """
    if delimiter != ",":
        return fields
    needed = pc.match_substring_regex(fields, f"{_QUOTED}|{_COMMENT}" if first else _QUOTED)
    doubled = pc.replace_substring(fields, '"', '""')
    return pc.if_else(needed, pc.binary_join_element_wise(constant('"'), doubled, constant('"'), constant("")), fields)
