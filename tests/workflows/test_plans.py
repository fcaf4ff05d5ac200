"""Plans applied to trials: primary numbers by an independent formula, and what stands in their way."""

import itertools

import numpy as np
import pytest

from deciban import evaluate_files
from deciban.errors import InputError
from deciban.evaluation import preset
from deciban.report.answers import verdict


@pytest.fixture(scope="module")
def trials(tmp_path_factory):
    """Trials with columns, as a table of scores and a key, and the same as arrays."""
    rng, n, folder = np.random.default_rng(5), 900, tmp_path_factory.mktemp("plans")
    truth = np.arange(n) % 3 == 0
    gender, channel = rng.choice(["f", "m"], n, p=[0.8, 0.2]), rng.choice(["tel", "mic"], n)
    kind = np.where(truth, "", rng.choice(["known", "unknown"], n, p=[0.2, 0.8]))
    score = np.where(truth, 4.0, -4.0) + 2.5 * rng.normal(size=n) + (gender == "m")
    keys = [
        f"t{i},{'target' if truth[i] else 'nontarget'},{gender[i]},{channel[i]},{kind[i]},u{i % 40}" for i in range(n)
    ]
    (folder / "key.csv").write_text("trial,label,gender,channel,nontarget,unit\n" + "\n".join(keys) + "\n")
    (folder / "sys.csv").write_text("trial,score\n" + "\n".join(f"t{i},{float(score[i])!r}" for i in range(n)) + "\n")
    ours = """form = 1
title = "Ours"
source = "us"
status = "unverified"
checked = "nothing"
kind = "two-class"
operating_points = [[0.2, 1, 1], [0.1, 1, 1]]
primary = "act_dcf"
equalize = ["gender,channel"]
"""
    (folder / "ours.toml").write_text(ours)
    return folder, score, truth, gender, channel, kind


def cost(p_miss, p_fa, p_target):
    beta = (1 - p_target) / p_target
    return (p_miss + beta * p_fa) / min(1, beta)


def rates(score, truth, threshold):
    return np.mean(score[truth] < threshold), np.mean(score[~truth] >= threshold)


def test_partitions_count_alike(trials):
    folder, score, truth, gender, channel, _ = trials
    found = evaluate_files(
        folder / "sys.csv", folder / "key.csv", preset=str(folder / "ours.toml"), operating_points=[0.5], units="unit"
    )
    cells = [(gender == g) & (channel == c) for g, c in itertools.product("fm", ("tel", "mic"))]
    expected = []
    for p in (0.2, 0.1):
        threshold = np.log((1 - p) / p)
        each = np.array([rates(score[cell], truth[cell], threshold) for cell in cells])
        expected.append(cost(*each.mean(axis=0), p))
    (one,) = found.primaries
    assert one.value == pytest.approx(np.mean(expected), rel=1e-12)
    assert one.departs == ""
    interval = one.metric.interval
    assert interval.low < one.value < interval.high
    # The least cost is that of one threshold for all trials, with mean rates over partitions.
    least = []
    for p in (0.2, 0.1):
        places = [*np.unique(score), np.inf]
        costs = [cost(*np.mean([rates(score[cell], truth[cell], t) for cell in cells], axis=0), p) for t in places]
        least.append(min(costs))
    assert one.minimum.value == pytest.approx(np.mean(least), rel=1e-12)


@pytest.mark.parametrize("columns", ["number:10,25", "gender,number:25", "trial=halves"])
def test_what_counts_alike_is_named_as_in_equalize(columns, trials, tmp_path):
    folder = trials[0]
    lines = (folder / "key.csv").read_text().splitlines()
    numbered = [f"{line},{line.rpartition(',u')[2]}" for line in lines[1:]]
    (tmp_path / "key.csv").write_text("\n".join([f"{lines[0]},number", *numbered]))
    (tmp_path / "halves").write_text("".join(f"t{i},{'early' if i < 300 else 'late'}\n" for i in range(900)))
    columns = columns.replace("halves", str(tmp_path / "halves"))
    plan = (folder / "ours.toml").read_text().replace("gender,channel", columns)
    (tmp_path / "ours.toml").write_text(plan)
    how = {"operating_points": [0.2, 0.1], "equalize": columns}
    expected = evaluate_files(folder / "sys.csv", tmp_path / "key.csv", **how).conditions[0].equalized[0].evaluation
    (one,) = evaluate_files(folder / "sys.csv", tmp_path / "key.csv", preset=tmp_path / "ours.toml").primaries
    assert not one.departs
    assert one.value == expected.mean_act_dcf


def test_added_points_change_nothing(trials):
    folder = trials[0]
    alone, more = (
        evaluate_files(folder / "sys.csv", folder / "key.csv", preset="sre12", units="unit", **points)
        for points in ({}, {"operating_points": [0.5, 0.01]})
    )
    assert [len(one.systems[0].operating_points) for one in (alone, more)] == [2, 3]
    assert alone.primaries[0].to_dict() == more.primaries[0].to_dict()
    assert alone.primaries[0].value == alone.systems[0].mean_act_dcf
    assert more.systems[0].mean_act_dcf != more.primaries[0].value


def test_non_targets_have_their_shares(trials):
    folder, score, truth, *_, kind = trials
    (one,) = evaluate_files(folder / "sys.csv", folder / "key.csv", preset="sre12-known").primaries
    expected = []
    for p in (0.01, 0.001):
        threshold = np.log((1 - p) / p)
        p_fa = np.mean([np.mean(score[kind == name] >= threshold) for name in ("known", "unknown")])
        expected.append(cost(np.mean(score[truth] < threshold), p_fa, p))
    assert one.value == pytest.approx(np.mean(expected), rel=1e-12)


def test_strange_values_of_non_targets_are_refused(trials, tmp_path):
    folder = trials[0]
    text = (folder / "key.csv").read_text().replace(",known,", ",seen,")
    (tmp_path / "key.csv").write_text(text)
    with pytest.raises(InputError, match=r"'nontarget' known, unknown, but non-targets of the key have seen, unknown"):
        evaluate_files(folder / "sys.csv", tmp_path / "key.csv", preset="sre12-known")


def test_a_key_without_the_columns_gives_another_number_and_says_so(trials):
    folder = trials[0]
    (one,) = evaluate_files(folder / "sys.csv", folder / "key.csv", preset="sre16").primaries
    assert "the key has no columns language_id, num_enroll_segs, phone_num_match" in one.departs
    assert one.to_dict()["is_of_plan"] is False
    assert one.status.startswith("not checked against its source")
    of_verified = evaluate_files(folder / "sys.csv", folder / "key.csv", preset="sre18-cmn2")
    assert of_verified.primaries[0].departs
    assert "checked against its source" not in of_verified.table()


@pytest.mark.parametrize(
    ("name", "metric"), [("voxsrc", "min_dcf"), ("voxceleb", "eer"), ("asvspoof5-cm", "min_dcf"), ("sre10", "act_dcf")]
)
def test_what_ranks_systems_is_the_figure_of_the_plan(name, metric, trials):
    folder = trials[0]
    found = evaluate_files(folder / "sys.csv", folder / "key.csv", preset=name)
    assert found.primaries[0].value == getattr(found.systems[0], metric)


def test_verdicts_quote_the_eer_of_the_challenge(trials):
    """The mean of both rates at the threshold where they differ least, not the crossing on the convex hull."""
    folder, score, truth, *_ = trials
    (one,) = evaluate_files(folder / "sys.csv", folder / "key.csv", preset="asvspoof5-cm", units="unit").systems
    p_miss, p_fa = min((rates(score, truth, at) for at in np.unique(score)), key=lambda pair: abs(pair[0] - pair[1]))
    assert one.quoted_eer == (pytest.approx((p_miss + p_fa) / 2, abs=1e-12), ("eer_conventions", "closest_mean"))
    assert f"{100 * one.eer:.2g}" != f"{100 * one.quoted_eer[0]:.2g}"
    assert f"(EER {100 * one.quoted_eer[0]:.2g} %)" in verdict(one)
    assert one.to_dict()["intervals"]["eer_conventions"].keys() == {"closest_mean"}
    with pytest.raises(InputError, match=r"eer_conventions: got 'mean'\. There are rocch, interpolated"):
        evaluate_files(folder / "sys.csv", folder / "key.csv", eer_conventions="mean")


def test_false_non_matches_at_a_rate_of_false_matches(trials):
    folder, score, truth, *_ = trials
    (one,) = evaluate_files(folder / "sys.csv", folder / "key.csv", preset="iso19795").primaries
    threshold = min(t for t in np.unique(score) if np.mean(score[~truth] >= t) <= 1e-3)
    assert one.value == pytest.approx(np.mean(score[truth] < threshold))
    assert one.minimum is None


CLUSTERS = """form = 1
title = "Ours"
source = "us"
status = "unverified"
checked = "nothing"
kind = "classes"
target_priors = [0.5]
primary = "cluster_c_avg"
[clusters]
one = ["a", "b"]
two = ["c", "d", "e"]
"""


@pytest.fixture(scope="module")
def segments(tmp_path_factory):
    """Log-likelihoods of five classes and a key."""
    rng, n, folder = np.random.default_rng(6), 400, tmp_path_factory.mktemp("classes")
    label = np.arange(n) % 5
    loglik = rng.normal(size=(n, 5)) * 2 + 3 * np.eye(5)[label]
    names, source = "abcde", np.where(np.arange(n) % 7 < 2, "video", "mls14")
    rows = (f"s{i}," + ",".join(repr(x) for x in loglik[i].tolist()) for i in range(n))
    (folder / "sys.csv").write_text("segment,a,b,c,d,e\n" + "\n".join(rows) + "\n")
    keys = (f"s{i},{names[label[i]]},{source[i]}" for i in range(n))
    (folder / "key.csv").write_text("segment,class,data_source\n" + "\n".join(keys) + "\n")
    (folder / "ours.toml").write_text(CLUSTERS)
    pairs = CLUSTERS.replace("cluster_c_avg", "pair_cost").partition("[clusters]")[0] + "worst_pairs = 3\n"
    (folder / "pairs.toml").write_text(pairs)
    return folder, loglik, label, source


def c_avg(loglik, label, p_target=0.5):
    """Mean over targets; every other class has the same share of the non-targets."""
    classes, costs = np.unique(label), []
    for at, target in enumerate(classes):
        others = np.delete(loglik, at, axis=1)
        llr = loglik[:, at] - np.log(np.mean(np.exp(others), axis=1))
        accept = llr >= np.log((1 - p_target) / p_target)
        p_fa = np.mean([accept[label == other].mean() for other in classes if other != target])
        costs.append(p_target * np.mean(~accept[label == target]) + (1 - p_target) * p_fa)
    return np.mean(costs)


def test_clusters_are_told_apart_among_themselves(segments):
    folder, loglik, label, _ = segments
    (one,) = evaluate_files(folder / "sys.csv", folder / "key.csv", preset=folder / "ours.toml").primaries
    expected = {}
    for name, members in (("one", [0, 1]), ("two", [2, 3, 4])):
        rows = np.isin(label, members)
        expected[name] = c_avg(loglik[np.ix_(rows, members)], label[rows])
    assert one.parts == pytest.approx(expected, rel=1e-9)
    assert one.value == pytest.approx(np.mean(list(expected.values())), rel=1e-9)
    assert one.minimum.value <= one.value


def test_the_worst_pairs(segments):
    folder, loglik, label, _ = segments
    (one,) = evaluate_files(folder / "sys.csv", folder / "key.csv", preset=folder / "pairs.toml").primaries
    costs = []
    for i, j in itertools.combinations(range(5), 2):
        llr, first = loglik[:, i] - loglik[:, j], label == i
        second = label == j
        each = [(np.mean(llr[first] < t) + np.mean(llr[second] >= t)) / 2 for t in [*np.unique(llr), np.inf]]
        costs.append((min(each), (np.mean(llr[first] < 0) + np.mean(llr[second] >= 0)) / 2))
    worst = sorted(costs, reverse=True)[:3]
    assert one.value == pytest.approx(np.mean([actual for _, actual in worst]), rel=1e-12)
    assert one.minimum.value == pytest.approx(np.mean([least for least, _ in worst]), rel=1e-12)
    assert len(one.parts) == 3


def test_sources_count_alike_in_every_class(segments):
    folder, loglik, label, source = segments
    (one,) = evaluate_files(folder / "sys.csv", folder / "key.csv", preset="lre17").primaries
    each = [
        c_avg(loglik[source == name], label[source == name], p) / p for name in ("video", "mls14") for p in (0.5, 0.1)
    ]
    assert one.value == pytest.approx(np.mean(each), rel=1e-9)


def test_classes_of_no_cluster_are_refused(segments):
    folder = segments[0]
    with pytest.raises(InputError, match=r"a, b, c, d, e: in no cluster of lre15, which has ara-acm"):
        evaluate_files(folder / "sys.csv", folder / "key.csv", preset="lre15")
    with pytest.raises(InputError, match="sre10 is for two-class scores, but the scores are multiclass"):
        evaluate_files(folder / "sys.csv", folder / "key.csv", preset="sre10")


def test_a_plan_is_given_whole_to_options():
    from deciban.workflows.options import Options

    options = Options.of("evaluate_files", {"preset": "sre12", "operating_points": [0.5, 0.001]})
    assert options.plan == preset("sre12")
    assert [one.p_target for one in options.metrics.operating_points] == [0.01, 0.001, 0.5]
    with pytest.raises(InputError, match="the last class is out of set, with prior 0.2"):
        Options.of("evaluate_files", {"preset": "lre09-open", "p_out_of_set": 0.3})
