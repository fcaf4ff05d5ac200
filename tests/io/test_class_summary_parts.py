"""Parts of summaries of many classes merge to the same bytes in any order, and come back from files as they were."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deciban.engines.class_summary_parts import class_evaluation_of_part, class_sums_of, counted_class_part, known_of
from deciban.engines.threads import Threads
from deciban.errors import FormatError, InputError
from deciban.evaluation.multiclass.evaluate import evaluate_classes
from deciban.evaluation.multiclass.figures import ClassFigures
from deciban.io.summary_files import read_summary, write_summary
from deciban.io.summary_parts import merged_parts
from deciban.io.summary_records import Question, ShardRecord
from support.shards import source_of

FIGURES = ClassFigures(prior={"a": 0.2, "b": 0.5, "c": 0.3}, p_target=[0.5, 0.1])


def class_part(rng, sha256, *, n=30, figures=FIGURES, classes=("a", "b", "c")):
    label = rng.integers(0, len(classes), n)
    loglik = rng.normal(size=(n, len(classes))).round(1)
    loglik[rng.random(loglik.shape) < 0.02] = -np.inf
    loglik[np.arange(n), label] = 1.0
    source = source_of(loglik, label, rng, n_pieces=1, classes=classes)
    question = Question(figures, ("score",), "float64", 0, (), has_weights=False, classes=classes)
    return counted_class_part(source, ShardRecord(sha256, n, 9, sha256, ()), question, Threads(1))


@settings(max_examples=5)
@given(st.integers(0, 2**32 - 1), st.permutations(range(4)), st.sampled_from([0, 1, 30]))
def test_merging_gives_the_same_bytes(tmp_path_factory, seed, order, n):
    rng = np.random.default_rng(seed)
    parts = [class_part(rng, f"{k}", n=n if k == 1 else 20) for k in range(4)]
    a, b, c, d = (parts[k] for k in order)
    folder, found = tmp_path_factory.mktemp("merged"), []
    for k, one in enumerate((merge(*parts), merge(merge(a, b), merge(c, d)), merge(d, merge(b, merge(c, a))))):
        write_summary(one, folder / f"{k}")
        assert read_summary(folder / f"{k}").sha256 == one.sha256
        found.append((folder / f"{k}").read_bytes())
    assert found[0] == found[1] == found[2]


@settings(max_examples=10)
@given(st.integers(0, 2**32 - 1))
def test_minima_lie_within_the_bounds_of_few_cells(seed):
    rng, made = np.random.default_rng(seed), []
    for _ in range(3):
        label = rng.permutation(np.arange(60) % 3)
        loglik = rng.normal(size=(60, 3)).round(1) + np.eye(3)[label]
        loglik[rng.random(loglik.shape) < 0.02] = -np.inf
        loglik[np.arange(60), label] = 1.0
        made.append((loglik, label))
    question = Question(FIGURES, ("score",), "float64", 0, (), has_weights=False, classes=("a", "b", "c"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("deciban.engines.class_summary_parts._MOST_FIRST", 8)
        parts = [
            counted_class_part(
                source_of(*one, rng, n_pieces=2, classes=("a", "b", "c")),
                ShardRecord(f"{k}", 60, 9, f"{k}", ()),
                question,
                Threads(2),
            )
            for k, one in enumerate(made)
        ]
    whole = merge(*parts)
    sums = class_sums_of(whole, 0)
    found = class_evaluation_of_part(sums, known_of(whole, 0, sums, "all"), "score")
    loglik, label = (np.concatenate([one[at] for one in made]) for at in (0, 1))
    exact = evaluate_classes(loglik, label, classes=("a", "b", "c"), prior=FIGURES.prior, p_target=FIGURES.p_target)
    for target, figures in exact.detectors.items():
        for name in ("eer", "min_cost", "min_cllr"):
            low, high = found.bounds.get(("detectors", target, name), (found.detectors[target][name],) * 2)
            assert low * (1 - 1e-12) <= figures[name] <= high * (1 + 1e-12)
    low, high = found.bounds["min_cllr"]
    assert low <= exact.min_cllr <= high


def merge(*parts):
    return merged_parts(parts, [f"part {k}" for k in range(len(parts))])


def test_what_does_not_belong_together_is_refused():
    rng = np.random.default_rng(1)
    one = class_part(rng, "x")
    with pytest.raises(InputError, match="1 shard would count twice: x"):
        merge(one, one)
    for changed, words in (
        ({"figures": ClassFigures(p_target=0.1)}, "prior .* and None; p_target"),
        ({"classes": ("a", "b", "c", "d"), "figures": ClassFigures()}, "classes"),
    ):
        with pytest.raises(InputError, match=f"part 1: answers another question than part 0: {words}"):
            merge(one, class_part(rng, "y", **changed))


@pytest.mark.parametrize("order", ["older first", "older last", "older last after none"])
def test_what_another_version_wrote_is_refused_by_name(tmp_path, order):
    rng = np.random.default_rng(2)
    older, newer, none = (class_part(rng, name, n=n) for name, n in (("x", 30), ("y", 30), ("z", 0)))
    older = replace(older, totals=tuple(one.without_cells() for one in older.totals))
    write_summary(older, tmp_path / "older")
    older = read_summary(tmp_path / "older")
    parts = {
        "older first": (older, newer),
        "older last": (newer, older),
        "older last after none": (none, newer, older),
    }[order]
    names = f"part {len(parts) - 1}: .* another version of deciban than part {len(parts) - 2}"
    with pytest.raises(FormatError, match=f"{names}: they hold different cells of minima"):
        merge(*parts)
