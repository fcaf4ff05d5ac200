"""Long names in narrow tables are broken between their words."""

import io
import re

from deciban.tables.results import TableConsole, table
from deciban.tables.writers import wrapped


def test_long_headings_and_names_break_after_separators():
    shown = table(
        ["scores_aasist_evaluation", "weight of speech_duration_of_enrollment"], [("scores_lfcc-lcnn.final", "1.25")]
    )
    words = printed(shown, 30).split()
    assert {"speech_duration_", "enrollment"} & {*words}
    joined = "scores_ aasist_ evaluation speech_ duration_ of_ enrollment lfcc- lcnn. final weight of 1.25"
    assert set(re.findall(r"[^\W_]+[-_.]?", " ".join(words))) <= {*joined.split(), "1.", "25"}


def printed(shown, width):
    out = io.StringIO()
    TableConsole("plain", file=out, width=width, force_terminal=False).print(shown)
    return out.getvalue()


def test_a_word_that_fits_on_a_line_is_not_broken():
    assert wrapped("mean of C_avg and c_fa", 9) == "mean of\nC_avg and\nc_fa"
