"""Names and colours of systems."""

from deciban.plots.files import readable


def test_names_in_use_are_numbered_and_guarded():
    assert readable(["A", "A", "_x", "$5"], {"A"}) == ["A #2", "A #3", "\u200a_x", r"\$5"]
