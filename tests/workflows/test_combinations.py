"""Combinations of the values of columns, and which of them count everywhere."""

import itertools

import pytest

from deciban import InputError
from deciban.workflows.reading.partitions import SplitColumn, crossed, with_what_counts_everywhere


def test_all_combinations_are_listed_and_too_many_are_refused():
    columns = [SplitColumn("a"), SplitColumn("b")]
    assert crossed(columns, [["1", "2"], ["x", None]], "by") == (("1", "x"), ("1", None), ("2", "x"), ("2", None))
    with pytest.raises(InputError, match="by: a and b make 1,020 conditions .values: a 34, b 30.*at most 1,000"):
        crossed(columns, [[str(k) for k in range(34)], [str(k) for k in range(30)]], "by")


def test_two_columns_may_have_values_that_count_everywhere():
    columns = [SplitColumn("attack", everywhere="-"), SplitColumn("gender", everywhere="")]
    each = [["-", "A1", "A2"], ["f", "m", None]]
    found = dict(with_what_counts_everywhere(columns, crossed(columns, each, "by"), "by"))
    assert list(found) == list(itertools.product(["A1", "A2"], ["f", "m"]))
    combinations = list(itertools.product(*each))
    for (attack, gender), cells in found.items():
        is_of = [a in ("-", attack) and g in (None, gender) for a, g in combinations]
        assert [at in cells for at in range(len(combinations))] == is_of


def test_without_such_values_each_combination_is_a_condition():
    columns = [SplitColumn("gender")]
    assert with_what_counts_everywhere(columns, (("f",), (None,)), "by") == [(("f",), (0,)), ((None,), (1,))]
