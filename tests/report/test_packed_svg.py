"""Packed pictures say what they said, in fewer bytes."""

import io
import re
import xml.etree.ElementTree as ET

import numpy as np
import pytest

from deciban import plots
from deciban.report.scripts import packed
from support.class_files import CLASSES

WHOLE_PICTURES = True

HREF = "{http://www.w3.org/1999/xlink}href"


@pytest.fixture(scope="module")
def drawn():
    """A matrix with names that look like tags and styles."""
    written = io.BytesIO()
    names = ['<g> id="x"', 'style="fill: none"', "eel"]
    plots.save(plots.confusion(np.diag([8, 9, 7]) + 1, classes=names), written, "svg")
    return written.getvalue().decode()


def looks(svg):
    """Of every element that draws: what it draws, and all that is said of how, rules of classes put back."""
    rules = dict(re.findall(r"\.([a-z]+)\{([^}]*)\}", svg))
    root = ET.fromstring(svg)  # noqa: S314  # our own bytes
    shapes = {node.get("id"): node.get("d") for node in root.iter() if node.get("id")}
    found = []

    def walk(node, above):
        parts = [rules.get(node.get("class"), ""), node.get("style") or ""]
        if node.get("clip-path"):
            parts.append(f"clip-path:{node.get('clip-path')}")
        own = [re.sub(r"url\(#[^)]*\)", "url", part.replace(" ", "")) for part in ";".join(parts).split(";") if part]
        here = [*above, *sorted(own)]
        if node.tag.endswith(("path", "use")):
            found.append((shapes[node.get(HREF)[1:]] if node.tag.endswith("use") else node.get("d"), here))
        for one in node:
            walk(one, here)

    walk(root, [])
    return found


def test_every_shape_keeps_its_look(drawn):
    small = packed(drawn)
    assert looks(small) == looks(drawn)
    assert len(looks(drawn)) > 50
    assert len(small) < 0.75 * len(drawn)


def test_every_name_that_is_used_is_there_once(drawn):
    root = ET.fromstring(packed(drawn))  # noqa: S314  # our own bytes
    names = [node.get("id") for node in root.iter() if node.get("id")]
    assert len(names) == len(set(names))
    text = packed(drawn)
    assert set(re.findall(r'href="#([^"]*)"|url\(#([^)]*)\)', text)) <= {(x, "") for x in names} | {
        ("", x) for x in names
    }


def test_places_move_by_less_than_a_hundredth(drawn):
    def places(svg):
        texts = re.findall(r'transform="translate\((-?[\d.]+) (-?[\d.]+)\) scale', svg)
        return np.array(texts, dtype=float)

    assert np.abs(places(packed(drawn)) - places(drawn)).max() <= 0.005 + 1e-9


def test_letters_stand_as_far_apart():
    use = '<use xlink:href="#a-1" transform="translate(63.623047 0)"/>'
    assert packed(f'<path id="a-1"/>{use}') == '<path id="a"/><use xlink:href="#a" x="63.62"/>'


def test_text_and_comments_stay():
    kept = f"<text>style=1.23456 {CLASSES[0]}</text><!-- id=1.23456 -->"
    assert packed(f"<g>{kept}</g>") == kept
