"""Fonts for names in any script."""

from __future__ import annotations

from collections.abc import Iterable

from matplotlib.font_manager import FontProperties, findfont, fontManager, get_font


def families_for(text: Iterable[str], size: float) -> FontProperties:
    """Return the default font and, for characters that it lacks, the first installed fonts that have them."""
    font = FontProperties(size=size)
    missing = {ord(character) for characters in text for character in characters}
    missing -= get_font(findfont(font)).get_charmap().keys()
    families = list(font.get_family())
    for entry in fontManager.ttflist if missing else ():
        found = missing & get_font(entry.fname).get_charmap().keys()
        if found and not entry.name.startswith("Last Resort"):
            families.append(entry.name)
            missing -= found
    font.set_family(families)
    return font
