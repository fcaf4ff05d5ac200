"""SVG in fewer bytes that draws the same: looks and names are said once, numbers have no digits that nobody sees."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping

_TAG = re.compile(r"<[A-Za-z][^<>]*>")
_GROUP = re.compile(r"<g>|<g [^<>]*>|</g>")
_NAME = re.compile(r' id="([^"]*)"')
_REFERENCE = re.compile(r'(xlink:href="#|url\(#)([^")]+)')
_LOOK = re.compile(r' (style|clip-path)="([^"]*)"')
_SHIFT = re.compile(r' transform="translate\((-?[\d.]+)[ ,]+(-?[\d.]+)\)"')
_DECIMALS = re.compile(r"-?\d*\.\d{3,}(?!\d)")
_NUMBERS = re.compile(r' (?:x|y|transform)="[^"]*"')
_PATH_END = "</style>"


def packed(svg: str) -> str:
    """Say every look of lines and letters once, shorten names, and leave out groups that say nothing.

    Parameters
    ----------
    svg : str
        As matplotlib writes it: ``<``, ``>`` and quotes stand in no value of an attribute and in no text.

    Returns
    -------
    str
        What viewers draw the same, to a hundredth of a point. Text and comments stay as they are.

    Examples
    --------
    >>> look = 'style="fill: #ff0000; stroke: #ffffff"'
    >>> print(packed(f'<svg><style></style><g id="a"><path d="M0 0" {look}/><path d="M1 0" {look}/></g></svg>'))
    <svg><style>.a{fill:#ff0000;stroke:#ffffff}</style><path d="M0 0" class="a"/><path d="M1 0" class="a"/></svg>
    """
    tags = _TAG.findall(svg)
    names = _shortened(name for tag in tags for _, name in _REFERENCE.findall(tag))
    looks = _looks(tags) if _PATH_END in svg else {}
    found = _TAG.sub(lambda tag: _packed_tag(tag[0], names, looks), svg)
    rules = "".join(f".{name}{{{_rule(look, names)}}}" for look, name in looks.items())
    found = found.replace(_PATH_END, rules + _PATH_END, 1)
    return _without_bare_groups(re.sub(r">\s*\n\s*<", "><", found))


def _shortened(names: object) -> dict[str, str]:
    """Short names, the shortest for those that are used most often."""
    counted = Counter(names)  # type: ignore[call-overload]
    return {name: _letters(k) for k, (name, _) in enumerate(counted.most_common())}


def _letters(k: int) -> str:
    """The name of a place: a to z, then ba, bb and so on.

    >>> [_letters(k) for k in (0, 25, 26, 27)]
    ['a', 'z', 'ba', 'bb']
    """
    more, last = divmod(k, 26)
    return (_letters(more) if more else "") + chr(ord("a") + last)


def _look(tag: str) -> tuple[tuple[str, str], ...]:
    return tuple(_LOOK.findall(tag))


def _looks(tags: list[str]) -> dict[tuple[tuple[str, str], ...], str]:
    """Names of the looks that several elements share."""
    counted = Counter(look for look in map(_look, tags) if look)
    shared = [look for look, n in counted.most_common() if n > 1]
    return {look: _letters(k) for k, look in enumerate(shared)}


def _rule(look: tuple[tuple[str, str], ...], names: Mapping[str, str]) -> str:
    parts = [value if name == "style" else f"{name}:{value}" for name, value in look]
    tight = re.sub(r"\s*([:;])\s*", r"\1", ";".join(parts)).strip(";")
    return _renamed(tight, names)


def _renamed(text: str, names: Mapping[str, str]) -> str:
    return _REFERENCE.sub(lambda found: found[1] + names[found[2]], text)


def _packed_tag(tag: str, names: Mapping[str, str], looks: Mapping[tuple[tuple[str, str], ...], str]) -> str:
    look = _look(tag)
    if look in looks:
        end = "/>" if tag.endswith("/>") else ">"
        tag = f'{_LOOK.sub("", tag).removesuffix(end)} class="{looks[look]}"{end}'
    tag = _NAME.sub(lambda found: f' id="{names[found[1]]}"' if found[1] in names else "", tag)
    if tag.startswith("<use") and ' x="' not in tag:
        tag = _SHIFT.sub(_as_place, tag)
    if not tag.startswith("<image"):
        tag = _NUMBERS.sub(lambda found: _rounded(found[0]), tag)
    return _renamed(tag, names)


def _as_place(shift: re.Match[str]) -> str:
    """Where an element is used, in place of how far it is moved."""
    return "".join(f' {axis}="{at}"' for axis, at in zip("xy", shift.groups(), strict=True) if float(at))


def _rounded(attribute: str) -> str:
    """Hundredths; factors stay, as they are multiplied by numbers of any size.

    >>> _rounded(' transform="translate(1.23456 2) scale(0.015625)"')
    ' transform="translate(1.23 2) scale(0.015625)"'
    """
    before, scale, factor = attribute.partition("scale")
    return _DECIMALS.sub(lambda found: f"{float(found[0]):.2f}".rstrip("0").rstrip("."), before) + scale + factor


def _without_bare_groups(svg: str) -> str:
    """Without groups that say nothing of what is in them."""
    is_bare = list[bool]()

    def kept(found: re.Match[str]) -> str:
        tag = found[0]
        if tag.endswith("/>"):
            return ""
        if tag == "</g>":
            return "" if is_bare.pop() else tag
        is_bare.append(tag == "<g>")
        return "" if is_bare[-1] else tag

    return _GROUP.sub(kept, svg.replace("<g/>", ""))
