"""Files of the demos of fields: the same on every machine, and of the shapes that tutorials name."""

import hashlib

import pytest

import deciban
from deciban.io.demos import FIELD_FILES, FIELDS, write_field_demo


@pytest.mark.parametrize("field", FIELDS)
def test_files_are_named_and_drawn_once(field, tmp_path):
    first, second = (write_field_demo(tmp_path / name, field) for name in "ab")
    assert tuple(path.name for path in first) == FIELD_FILES[field]
    assert [path.read_bytes() for path in first] == [path.read_bytes() for path in second]


def test_numbers_do_not_depend_on_the_machine(tmp_path):
    path, *_ = write_field_demo(tmp_path, "spoofing")
    assert path.read_text().splitlines()[0] == "LA_E_0000000 - bonafide 4.1921"
    assert hashlib.sha256(path.read_bytes()).hexdigest()[:8] == "5377465f"


def test_formats_are_those_of_the_field(tmp_path):
    cm, *_ = write_field_demo(tmp_path, "spoofing")
    assert deciban.read_key(cm).trials.origin.reading.startswith("asvspoof2019")
    (faces,) = write_field_demo(tmp_path, "biometrics")
    key = deciban.read_key(faces)
    assert (key.n_tar, key.n_non) == (450, 33_300)
