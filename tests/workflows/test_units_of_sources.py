"""Units of trials in batches, and every sentence about them, are those of the same trials in memory."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from deciban import evaluate_files
from deciban.workflows.evaluate import evaluate_source
from deciban.workflows.options import Options
from deciban.workflows.reading.inputs import open_source
from support.how_sure import assert_equally_sure

N_NAMES = 14


def columns_of(how, rng):
    """All pairs of names; speakers have two names each."""
    enroll, test = np.divmod(rng.permutation(N_NAMES**2), N_NAMES)
    truth = enroll // 2 == test // 2
    if how == "one speaker in all non-targets":
        some = (enroll // 2 == 0) | (test // 2 == 0) | truth
        enroll, test, truth = enroll[some], test[some], truth[some]
    if how == "one speaker":
        truth = np.where(enroll < 2, test < 2, False)
        enroll, test = enroll % 2, np.zeros_like(test)
        truth[:] = np.arange(len(truth)) % 2 == 0
        first = np.unique(np.stack((enroll, truth)), axis=1, return_index=True)[1]
        enroll, test, truth = enroll[first], test[first], truth[first]
        keep = np.unique(enroll, return_index=True)[1]
        enroll, test = enroll[keep], test[keep]
        truth = np.arange(len(keep)) == 0
    names = ["t", "t"] if how in ("names on both sides", "contradictions") else ["m", "t"]
    if how == "other names on both sides":
        names, test = ["", ""], (5 * test + 3) % N_NAMES
    if how == "contradictions":
        truth = truth.copy()
        truth[np.flatnonzero(truth)[:2]] = False
    found = {
        "enroll": [f"{names[0]}{one}" for one in enroll],
        "test": [f"{names[1]}{one}" for one in test],
        "score": np.where(truth, 1.0, -1.0) + rng.normal(0.0, 1.0, len(truth)),
        "label": truth,
        "weight": rng.integers(0, 3, len(truth)) + (np.arange(len(truth)) < 2),
    }
    if how == "one name":
        found["trial"] = [f"{one}-{other}" for one, other in zip(found.pop("enroll"), found.pop("test"), strict=True)]
    return found


@pytest.mark.parametrize("weights", [None, "weight"])
@pytest.mark.parametrize(
    "how",
    [
        *("names apart", "names on both sides", "other names on both sides", "contradictions"),
        *("one speaker in all non-targets", "one name", "one speaker"),
    ],
)
def test_sentences_and_intervals_are_those_of_memory(tmp_path, how, weights):
    rng = np.random.default_rng(6)
    path = tmp_path / "trials.parquet"
    pq.write_table(pa.table(columns_of(how, rng)), path, row_group_size=40)
    options = Options.of("evaluate_files", {"weights": weights})
    found = evaluate_source(open_source([path], None, options), options)
    whole = evaluate_files(path, weights=weights)
    said = [
        [
            str(one)
            for one in results.messages
            if one.kind in ("units", "warn") or (one.kind == "note" and not one.origin)
        ]
        for results in (found, whole)
    ]
    assert said[0] == said[1]
    one, other = found.systems[0], whole.systems[0]
    assert one.notes == other.notes
    assert (one.uncertainty is None) == (other.uncertainty is None)
    if one.uncertainty is not None:
        assert ("cllr" in one.uncertainty.estimates) == (how != "one speaker in all non-targets")
        assert_equally_sure(one, other)
