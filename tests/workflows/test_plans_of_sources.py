"""Plans of evaluations of trials in batches: the primary numbers of the same trials in memory."""

import json
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

from deciban import InputError, evaluate_files
from deciban.evaluation.preset_table import preset

N = 500


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    rng = np.random.default_rng(1)
    truth = rng.random(N) < 0.3
    about = {"gender": ["m", "f"], "language_id": ["tgl", "yue"], "num_enroll_segs": ["1", "3"]}
    columns = {name: np.array(values)[rng.integers(0, 2, N)] for name, values in about.items()}
    columns["phone_num_match"] = np.where(truth, np.array(["Y", "N"])[rng.integers(0, 2, N)], "N")
    columns["known"] = np.array(["known", "unknown"])[(rng.random(N) < 0.8).astype(int)]
    scores = np.where(truth, 2.0, -2.0) + rng.normal(0.0, 2.0, N)
    found = tmp_path_factory.mktemp("plans") / "trials.parquet"
    speakers = rng.integers(0, 9, N)
    table = pa.table({"score": scores, "label": truth, "speaker": speakers} | columns)
    pq.write_table(table, found, row_group_size=120)
    return found


def shared(**shares):
    """A plan by which non-targets have shares by what a column says of them."""
    plan = preset("voxsrc")
    return replace(plan, equalize="", share_column="known", non_target_shares=shares)


@pytest.mark.parametrize("plan", [preset("sre16"), preset("sre21"), shared(known=0.5, unknown=0.5)], ids=str)
def test_primary_numbers_are_those_of_trials_in_memory(path, plan):
    options = {"preset": plan, "units": "speaker"}
    (one,) = evaluate_files(path, **options).primaries
    (other,) = evaluate_files([ds.dataset(path)], names=["trials"], **options).primaries
    whole, found = (json.loads(json.dumps(each.to_dict())) for each in (one, other))
    assert whole.keys() == found.keys()
    assert one.metric.value == pytest.approx(other.metric.value, rel=1e-12)
    assert one.minimum.value == pytest.approx(other.minimum.value, rel=1e-12)
    assert (one.how, one.departs) == (other.how, other.departs)
    assert (one.metric.interval is None) == (other.metric.interval is None)
    if one.metric.interval is not None:
        assert one.metric.interval.high == pytest.approx(other.metric.interval.high, rel=1e-9)


def test_shares_of_what_no_trial_has_are_refused_as_in_memory(path):
    for given in (path, [ds.dataset(path)]):
        with pytest.raises(InputError, match="defines shares of non-targets with 'known' mate"):
            evaluate_files(given, preset=shared(mate=0.5, unknown=0.5), intervals=False)
