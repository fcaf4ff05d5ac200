"""Equal rows are one with a count, in ascending order; merging is associative and keeps every trial."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deciban.io.summary_files import COUNT, count_rows, in_groups, merged

ROWS = st.lists(st.tuples(st.sampled_from([-np.inf, -1.5, 0.0, 0.25, 2.0, np.inf]), st.booleans(), st.integers(0, 2)))


def columns(rows):
    score, label, unit = zip(*rows, strict=True) if rows else ((), (), ())
    return {"score": np.array(score, float), "label": np.array(label, bool), "unit": np.array(unit, np.uint64)}


def listed(tables):
    """All rows with their counts."""
    return [row for table in tables for row in zip(*(values.tolist() for values in table.values()), strict=True)]


@given(ROWS)
def test_every_different_row_is_there_once_in_order(rows):
    found = listed([count_rows(columns(rows))])
    assert found == [(*row, rows.count(row)) for row in sorted(set(rows))]


@given(st.lists(ROWS, min_size=1, max_size=5), st.integers(1, 4))
def test_merged_tables_are_the_table_of_all_rows(parts, n_at_once):
    whole = count_rows(columns([row for rows in parts for row in rows]))
    tables = [in_groups([count_rows(columns(rows))], n_at_once) for rows in parts]
    assert listed(merged(tables)) == listed([whole])


def test_counts_are_added_up_where_there_are_some():
    one = count_rows({"score": np.array([1.0, 1.0, 0.0]), COUNT: np.array([2, 3, 4])})
    assert listed([one]) == [(0.0, 4), (1.0, 5)]


@pytest.mark.parametrize("lengths", [[5], [1, 1, 1, 1, 1], [2, 3], [4, 0, 1]])
def test_groups_have_one_length_whatever_comes(lengths):
    numbers = np.arange(sum(lengths))
    tables = [{COUNT: one} for one in np.split(numbers, np.cumsum(lengths)[:-1])]
    assert [one[COUNT].tolist() for one in in_groups(tables, 2)] == [[0, 1], [2, 3], [4]]
    assert [one[COUNT].tolist() for one in in_groups(tables, 5)] == [[0, 1, 2, 3, 4]]
