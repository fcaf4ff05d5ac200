"""Sections of pages by the protocol of a field."""

import re

import pytest

from deciban.io.demos import write_field_demo
from deciban.report import report_files


@pytest.mark.parametrize(
    ("field", "file", "preset", "headings"),
    [
        ("biometrics", "faces.csv", "iso19795", "FMR at most|FMR|FNMR|false non-matches"),
        ("forensic", "pairs.csv", "forensic", "Cllr|min Cllr|calibration loss|EER (ROCCH)|devPAV|LR < 1, targets"),
    ],
)
def test_a_page_has_the_numbers_of_the_field(field, file, preset, headings, tmp_path):
    write_field_demo(tmp_path, field)
    found = report_files(tmp_path / file, output=tmp_path / "page.html", preset=preset)
    page = (tmp_path / "page.html").read_text()
    section = page.partition(f"Metrics of {preset}</h2>")[2].partition("</section>")[0]
    shown = [text.replace("&lt;", "<") for text in re.findall(r"<th scope=.col.[^>]*>(.*?)</th>", section)]
    assert [re.sub("<wbr>", "", one) for one in shown][1:][: headings.count("|") + 1] == headings.split("|")
    if preset == "forensic":
        assert found.primaries[0].value == found.systems[0].cllr
        assert f"{found.systems[0].curves.pav.deviation:.3f}" in section
    else:
        assert f"{found.systems[0].requested.rates_at[0].errors.n_miss} of 450" in section
    assert ("Is it calibrated?" in page) == (preset == "forensic")
