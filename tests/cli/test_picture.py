"""Where and how large the picture of a command is."""

import click
import pytest

from deciban import plots
from deciban.cli.parsing import PictureOptions
from deciban.errors import InputError
from support.evaluated import gaussian

WHOLE_PICTURES = True


def test_saves_in_the_size_that_was_asked_for(tmp_path):
    found = PictureOptions(tmp_path / "a.svg", "100mmx80mm")
    found.require()
    found.save(lambda: plots.tippett(gaussian("A")))
    assert b'width="283.464567pt" height="226.771654pt"' in found.path.read_bytes()
    assert found.written == f"wrote {tmp_path / 'a.svg'}"


def test_a_size_without_a_picture_is_refused():
    with pytest.raises(click.UsageError, match="--size is for the plot"):
        PictureOptions(None, "column").require()
    PictureOptions(None).save(lambda: 1 / 0)
    assert PictureOptions(None).paths == []


@pytest.mark.parametrize(("name", "why"), [("a.jpg", "must end in"), ("no/a.svg", "does not exist")])
def test_other_endings_and_folders_are_refused(tmp_path, name, why):
    with pytest.raises((click.BadParameter, InputError), match=why):
        PictureOptions(tmp_path / name).require()
