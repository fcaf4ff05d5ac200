"""Colours of systems, without matplotlib."""

from __future__ import annotations

PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#332288", "#882255", "#999933")

MOST_WITH_BANDS = 3
"""Largest number of systems with bands."""


def system_colors(n: int) -> list[str]:
    """Return the colours of several systems, as hexadecimal codes, in the order of plots.

    The first nine can be distinguished with any kind of colour vision; then they repeat, darker.

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
        shade, color = 0.55 ** (i // len(PALETTE)), PALETTE[i % len(PALETTE)]
        shades.append("#" + "".join(f"{round(shade * int(color[at : at + 2], 16)):02X}" for at in (1, 3, 5)))
    return shades
