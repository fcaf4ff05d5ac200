"""Parts of summaries merge to the same bytes in any order and grouping, and refuse what does not belong together."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deciban.errors import InputError
from deciban.evaluation.summary import TwoClassFigures
from deciban.io.summary_files import write_summary
from deciban.io.summary_parts import merged_parts
from support.summaries import further_of, part_of

_SCORES = st.lists(st.floats(-9, 9) | st.integers(-2, 2).map(float), max_size=12)


def names(parts):
    return [f"part {k}" for k in range(len(parts))]


def merge(*parts):
    return merged_parts(parts, names(parts))


@given(
    st.lists(st.tuples(_SCORES, _SCORES), min_size=4, max_size=4),
    st.permutations(range(4)),
    st.none() | st.lists(st.floats(1e-6, 1e6) | st.integers(1, 9).map(float), min_size=24, max_size=24),
)
def test_merging_gives_the_same_bytes(tmp_path_factory, scores, order, weights):
    parts = []
    for k, (tar, non) in enumerate(scores):
        own = None if weights is None else weights[: len(tar) + len(non)]
        parts.append(part_of(tar, non, f"{k}", room=15, weights=own))
    a, b, c, d = (parts[k] for k in order)
    folder = tmp_path_factory.mktemp("merged")
    found = []
    for k, one in enumerate((merge(*parts), merge(merge(a, b), merge(c, d)), merge(d, merge(b, merge(c, a))))):
        write_summary(one, folder / f"{k}")
        found.append((folder / f"{k}").read_bytes())
    assert found[0] == found[1] == found[2]


def test_sums_are_those_of_all_shards():
    one, two = part_of([1.0, 2.0], [0.5], "a"), part_of([3.0], [-1.0, -2.0], "b")
    both, sums = merge(two, one), merge(one, two).sums(0)
    assert both.sums(0) == sums
    assert (sums.n, sums.finite, both.n_rows) == ((3, 3), (-2.0, 3.0), 6)


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"figures": TwoClassFigures([0.3])}, "operating_points .*0.01.* and .*0.3"),
        ({"figures": TwoClassFigures(fmr_at=[0.1])}, "fmr_at"),
        ({"kind": "float32"}, "scores float64 and float32"),
        ({"systems": ("other",)}, "systems .*system.* and .*other"),
        ({"room": 9}, r"room for cells \(--memory\) 50 and 9"),
        ({"reading": (("log10", "True"),)}, "log10 left out and True"),
        ({"weights": [1.0, 2.0]}, "weights False and True"),
    ],
)
def test_answers_to_other_questions_are_refused(changed, words):
    with pytest.raises(InputError, match=f"part 1: answers another question than part 0: {words}"):
        merge(part_of([1.0], [0.0], "a"), part_of([1.0], [0.0], "b", **changed))


def test_a_shard_that_would_count_twice_is_named():
    one, two, three = (part_of([1.0], [0.0], name) for name in "aba")
    with pytest.raises(InputError, match=r"1 shard would count twice: a.parquet \(part 0, part 1\)"):
        merge(merge(one, two), three)


def test_refined_parts_merge_if_they_rest_on_the_same_counts():
    whole = merge(part_of([1.0], [0.0], "a"), part_of([2.0], [1.5], "b"))
    one, two = further_of(whole, "a", [1.0], []), further_of(whole, "b", [0.5, 2.0], [])
    assert (one.unseen, two.unseen) == (("b.parquet",), ("a.parquet",))
    found = merge(two, one)
    assert (found.unseen, found.further.kept[0].scores[0].tolist()) == ((), [0.5, 1.0, 2.0])
    assert found.sha256 == merge(one, two).sha256
    with pytest.raises(InputError, match=r"1 shard would count twice: a.parquet \(part 0, part 1\)"):
        merge(one, one)
    with pytest.raises(InputError, match="part 1: is what pass 1 over its shards found, part 0 what pass 2 found"):
        merge(one, whole)
    other = merge(part_of([1.0], [0.0], "a"), part_of([2.5], [1.5], "b"))
    with pytest.raises(InputError, match="part 1: was refined by other counts than part 0"):
        merge(one, further_of(other, "b", [1.0], []))


def test_nothing_does_not_merge():
    with pytest.raises(InputError, match="none given"):
        merge()
