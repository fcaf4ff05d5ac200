"""The union of lists of trials: which rows of each list are new, in the order of the lists."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deciban import InputError, KeyMismatchError
from deciban.trials import Trials
from deciban.trials.joining.join import new_rows
from support.joins import listed, trials_of

PAIRS = st.tuples(st.sampled_from("abc"), st.sampled_from("wxyz"))


@given(st.lists(st.lists(PAIRS, min_size=1, max_size=12), min_size=1, max_size=4), st.data())
def test_rows_are_those_that_a_walk_over_all_lists_finds_new(lists, data):
    tables = []
    for names in lists:
        if data.draw(st.booleans()):
            tables.append(trials_of(names))
        else:  # a matrix in which these cells are trials: each once, row by row
            mask = np.array([[(m, s) in names for s in "wxyz"] for m in "cab"])
            tables.append(Trials.of_grid(list("cab"), list("wxyz"), mask))
    seen, expected = set(), []
    for table in tables:
        rows = []
        for row, name in enumerate(listed(table)):
            if name not in seen:
                rows.append(row)
                seen.add(name)
        expected.append(rows)
    assert [rows.tolist() for rows in new_rows(tables)] == expected


def test_conditions_do_not_tell_trials_apart():
    one = Trials.of({"trial": ["a", "b"]}, conditions={"sex": ["f", "m"]})
    other = Trials.of({"trial": ["b", "c"]}, conditions={"sex": ["f", "f"], "year": [1, 2]})
    assert [rows.tolist() for rows in new_rows([one, other])] == [[0, 1], [1]]


def test_trials_of_other_kinds_are_no_union():
    with pytest.raises(KeyMismatchError, match="identifies a trial by trial, .* by enroll and test"):
        new_rows([trials_of([("a", "x")]), Trials.of({"trial": ["a"]})])
    with pytest.raises(InputError, match="lists: none given"):
        new_rows([])
