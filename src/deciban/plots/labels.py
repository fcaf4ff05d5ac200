"""Names and colours of systems, as pictures show them."""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from itertools import count

from matplotlib.colors import to_hex, to_rgb

# Okabe and Ito's colours for all kinds of colour vision, without their black (reference lines) and their yellow
# (too light for lines on white), then three of Paul Tol's.
PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#332288", "#882255", "#999933")
LABEL_WIDTH = 30
NAME_WIDTH = 22
"""Letters of a class name on an axis; longer ones lose their middle."""


def system_colors(n: int) -> list[str]:
    """Return the colours of several systems, as hexadecimal codes, in the order in which plots use them.

    People with any kind of colour vision can tell the first ones apart; after nine they come again, darker.

    Parameters
    ----------
    n : int
        Number of systems.

    Returns
    -------
    list of str

    Examples
    --------
    >>> system_colors(2)
    ['#0072B2', '#D55E00']
    """
    shades = []
    for i in range(n):
        shade, (red, green, blue) = 0.55 ** (i // len(PALETTE)), to_rgb(PALETTE[i % len(PALETTE)])
        shades.append(to_hex((shade * red, shade * green, shade * blue)).upper())
    return shades


def shortened(name: str, width: int) -> str:
    """The beginning and the end of a name that is longer.

    >>> shortened("a long name", 7), shortened("name", 7)
    ('a …ame', 'name')
    """
    half = width // 2
    return f"{name[: half - 1]}…{name[-half:]}" if len(name) > width else name


def readable(names: Sequence[str], used: AbstractSet[str] = frozenset(), *, width: int = LABEL_WIDTH) -> list[str]:
    """Shorten names, number those that are used already, and guard them so that each character is drawn as it is."""
    labels: list[str] = []
    for name in names:
        short = "".join(c if c.isprintable() else "\ufffd" for c in " ".join(name.split())) or "(unnamed)"
        short = shortened(short, width)
        # Dollars would begin a formula, and legends leave out what begins with an underscore: a hair space hides it.
        short = short.replace("$", r"\$")
        short = f"\u200a{short}" if short.startswith("_") else short
        numbered = (f"{short} #{i}" if i > 1 else short for i in count(1))
        labels.append(next(label for label in numbered if label not in used and label not in labels))
    return labels
