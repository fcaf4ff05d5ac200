"""A countermeasure and a verifier on the same trials: cascades against all pairs of thresholds, and their fusion."""

import itertools
import json
import math

import jsonschema
import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.special import logsumexp

import deciban
from deciban import spoofing
from deciban.errors import InputError
from deciban.fusion import SpoofingFusion
from deciban.spoofing import sasv as module
from deciban.workflows import fuse_spoofing_files

PAIRS = st.lists(st.tuples(st.integers(-4, 4).map(float), st.integers(-4, 4).map(float)), min_size=1, max_size=9)


def costs_of(tar, non, spoof):
    """The a-DCF at every pair of thresholds, by counting trials."""

    def share(pairs, u, v):
        return sum(cm >= u and asv >= v for cm, asv in pairs) / len(pairs)

    ticks = [[*sorted({pair[k] for pair in (*tar, *non, *spoof)}), math.inf] for k in (0, 1)]
    for u, v in itertools.product(*ticks):
        yield (u, v), (0.9 * (1 - share(tar, u, v)) + 0.5 * share(non, u, v) + share(spoof, u, v)) / 0.9


@given(tar=PAIRS, non=PAIRS, spoof=PAIRS, batch=st.integers(1, 5))
def test_the_cascade_is_as_good_as_the_best_pair_of_thresholds(tar, non, spoof, batch):
    every = dict(costs_of(tar, non, spoof))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_BATCH", batch)
        found = spoofing.min_cascade_a_dcf(tar, non, spoof)
    assert found.a_dcf == pytest.approx(min(every.values()), abs=1e-12)
    assert every[found.cm_threshold, found.asv_threshold] == pytest.approx(found.a_dcf, abs=1e-12)
    surface = spoofing.a_dcf_surface(tar, non, spoof)
    for (i, u), (j, v) in itertools.product(enumerate(surface.cm_threshold), enumerate(surface.asv_threshold)):
        assert surface.a_dcf[i, j] == pytest.approx(every[u, v], abs=1e-12)
    one_system = [[(9.0, asv) for _, asv in some] for some in (tar, non, spoof)]
    alone = spoofing.min_a_dcf(*([asv for _, asv in some] for some in one_system))
    assert spoofing.min_cascade_a_dcf(*one_system).a_dcf == pytest.approx(alone, abs=1e-12)


def test_paths_of_the_tandem_meet_at_its_eer():
    rng = np.random.default_rng(3)
    three = [rng.normal(mean, 1, 300) for mean in (2, -1, 1)]
    two = {"bona": rng.normal(1.5, 1, 400), "cm_spoof": rng.normal(-1, 1, 400)}
    eer, _, at_cm = spoofing.t_eer(*three, **two)
    for share in (0.0, 0.3, 1.0):
        path = spoofing.t_eer_path(*three, **two, spoof_share=share)
        for k in (0, len(path.eer) // 2):
            hit, non, passed = (
                (one >= at).mean()
                for one, at in zip(
                    (three[0], three[1], two["bona"]),
                    (path.asv_threshold[k], path.asv_threshold[k], path.cm_threshold[k]),
                    strict=True,
                )
            )
            spoof = (three[2] >= path.asv_threshold[k]).mean() * (two["cm_spoof"] >= path.cm_threshold[k]).mean()
            both = 1 - hit * passed, (1 - share) * non * passed + share * spoof
            assert path.eer[k] == pytest.approx(sum(both) / 2, abs=1e-12)
            assert abs(both[0] - both[1]) < 0.01
        assert path.eer[np.searchsorted(path.cm_threshold, at_cm)] == pytest.approx(eer, abs=0.005)


def trials(seed=5, n=200):
    rng = np.random.default_rng(seed)
    kinds = np.repeat([0, 1, 2], n)
    means = np.array([[2.0, 2.0], [2.0, -2.0], [-1.0, 1.0]])[kinds]
    return np.round(means + rng.normal(size=means.shape), 3), kinds


def test_the_fusion_is_the_optimum_of_multiclass_logistic_regression():
    scores, kinds = trials()
    prior = np.array([0.5, 0.2, 0.3])
    fusion = SpoofingFusion(prior=prior).fit(scores, kinds)

    def logliks(x):
        alternatives = scores @ x[:4].reshape(2, 2).T + x[4:]
        return np.column_stack((np.zeros(len(scores)), alternatives))

    def objective(x):
        posteriors = logliks(x) + np.log(prior)
        costs = logsumexp(posteriors, axis=1) - posteriors[np.arange(len(kinds)), kinds]
        return sum(p * costs[kinds == k].mean() for k, p in enumerate(prior))

    best = minimize(objective, np.zeros(6), tol=1e-12).x
    own = np.concatenate((fusion.non_weights_, fusion.spoof_weights_, fusion.offset_))
    assert own == pytest.approx(best, abs=1e-4)
    assert objective(own) <= objective(best) + 1e-12
    mixture = logliks(own)[:, 1:] + np.log([0.4, 0.6])
    assert fusion.transform(scores) == pytest.approx(-logsumexp(mixture, axis=1))
    with pytest.raises(InputError, match="no trial is a spoof"):
        SpoofingFusion().fit(scores[kinds < 2], kinds[kinds < 2])
    with pytest.raises(InputError, match="1 trials have infinite scores"):
        fusion.transform([[math.inf, 0.0]])


@pytest.fixture
def here(tmp_path, monkeypatch):
    """Scores of a countermeasure and of a verifier for the same trials, to train and to test, with keys."""
    monkeypatch.chdir(tmp_path)
    words = ("target", "nontarget", "spoof")
    for part, seed in (("dev", 5), ("eval", 6)):
        scores, kinds = trials(seed)
        rows = [
            (f"m{i % 9} {part}{i}", words[k], cm, asv)
            for i, (k, (cm, asv)) in enumerate(zip(kinds, scores, strict=True))
        ]
        (tmp_path / f"{part}.key").write_text("".join(f"{name} {word}\n" for name, word, _, _ in rows))
        for at, system in ((2, "cm"), (3, "asv")):
            (tmp_path / f"{part}_{system}.txt").write_text("".join(f"{row[0]} {row[at]}\n" for row in rows))
    return tmp_path


def test_a_fusion_of_files_is_trained_compared_and_applied(here, run):
    call = "fuse --spoof dev_cm.txt dev_asv.txt --key dev.key -o model.json --no-intervals --preset asvspoof5 "
    held_out = "--apply-to eval_cm.txt --apply-to eval_asv.txt --apply-key eval.key --llrs eval_llr.txt"
    code, out, err = run(f"{call} {held_out} --json -q")
    assert (code, "eval_cm as dev_cm" in err) == (0, True)
    found = json.loads(out)
    schema = jsonschema.Draft202012Validator(deciban.json_schemas()["fuse"])
    schema.validate(found)
    assert not any(schema.is_valid({**found, part: {**found[part], "unknown": 0}}) for part in ("dev", "eval"))
    costs = {"p_non": 0.0095, "p_spoof": 0.05, "c_fa": 10, "c_fa_spoof": 10}
    for part, seed in (("dev", 5), ("eval", 6)):
        scores, kinds = trials(seed)
        three = [scores[kinds == k] for k in range(3)]
        own, cascade = found[part], found[part]["cascade"]
        assert cascade["min_a_dcf"] == spoofing.min_cascade_a_dcf(*three, **costs).a_dcf
        at = [found["dev"]["cascade"][name] for name in ("cm_threshold", "asv_threshold")]
        decided = [(one >= at).all(axis=1).astype(float) for one in three]
        assert cascade["act_a_dcf"] == pytest.approx(spoofing.act_a_dcf(*decided, threshold=0.5, **costs), abs=1e-12)
        model = deciban.load_model(here / "model.json")
        llrs = [model.transform(one) for one in three]
        names = [one["name"] for one in own["systems"]]
        assert names == [f"{part}_cm", f"{part}_asv", "fusion"]
        assert own["systems"][2]["min_a_dcf"] == spoofing.min_a_dcf(*llrs, **costs)
        alone = min(one["min_a_dcf"] for one in own["systems"][:2])
        assert max(own["systems"][2]["min_a_dcf"], cascade["min_a_dcf"]) < 0.6 * alone
        assert own["systems"][2]["act_a_dcf"] < 1.1 * own["systems"][2]["min_a_dcf"]
    written = [float(line.split()[-1]) for line in (here / "eval_llr.txt").read_text().splitlines()]
    assert written == pytest.approx(model.transform(trials(6)[0]), abs=1e-5)
    assert sum(model.settings["prior"]) == pytest.approx(1)
    code, out, _ = run("apply model.json eval_cm.txt eval_asv.txt -o again.txt -q")
    assert (code, (here / "again.txt").read_text()) == (0, (here / "eval_llr.txt").read_text())
    code, out, _ = run("inspect model.json")
    assert "spoof" in out
    code, out, err = run(f"{call} -q")
    assert out.splitlines()[1].split() == ["system", "min", "a-DCF", "act", "a-DCF", "SASV-EER", "SV-EER", "SPF-EER"]
    assert "cascade: accept if dev_cm >= " in out


def test_labels_of_three_kinds_are_kept_where_lines_are_written_anew(here, run):
    scores, kinds = trials()
    words = np.array(["target", "nontarget", "spoof"])[kinds]
    table = pa.table({"trial": [f"t{i}" for i in range(len(kinds))], "label": words, "cm-score": scores[:, 0]})
    table = table.append_column("asv-score", pa.array(scores[:, 1]))
    pa.csv.write_csv(table, here / "all.csv")
    (here / "rows").mkdir()
    pq.write_table(table, here / "rows" / "all.parquet", row_group_size=150)  # the last group has spoofs only
    assert run("fuse --spoof all.csv -o model.json --llrs llr.csv -q --no-intervals")[0] == 0
    for call in ("all.csv -o again.csv", "all.csv -o again.parquet", "rows -o parts/"):
        assert run(f"apply model.json {call} -q")[0] == 0
    for found in (
        *(pa.csv.read_csv(here / name) for name in ("llr.csv", "again.csv")),
        *(pq.read_table(here / name) for name in ("again.parquet", "parts/all.parquet")),
    ):
        assert found["label"].to_pylist() == words.tolist()


def test_the_fusion_and_the_cascade_are_cross_validated_by_speaker_with_intervals(here, run):
    """Each trial is decided by a model, and by thresholds, that were trained without its speaker."""
    call = "fuse --spoof dev_cm.txt dev_asv.txt --key dev.key -o model.json --units enroll --cross-validate enroll:3"
    code, out, _ = run(f"{call} --llrs llr.txt --json -q")
    assert code == 0
    found, (scores, kinds) = json.loads(out), trials()
    jsonschema.Draft202012Validator(deciban.json_schemas()["fuse"]).validate(found)
    speaker, llr = np.arange(len(kinds)) % 9, np.loadtxt(here / "llr.txt", usecols=2)
    prior, costs = found["model"]["settings"]["prior"], {"p_non": 0.05, "p_spoof": 0.05, "c_fa": 10, "c_fa_spoof": 20}
    held_out, accepted = np.zeros(9, bool), np.zeros(len(kinds))
    for parts in itertools.combinations(range(9), 3):  # three folds of three speakers
        own = np.isin(speaker, parts)
        fusion = SpoofingFusion(prior=prior).fit(scores[~own], kinds[~own])
        if np.allclose(fusion.transform(scores[own]), llr[own], atol=1e-6):
            held_out[[*parts]] = True
            best = spoofing.min_cascade_a_dcf(*(scores[~own & (kinds == k)] for k in range(3)), **costs)
            accepted[own] = best.accepts(scores[own])
    assert held_out.all()
    crossed, dev = found["cross_validated"], found["dev"]
    assert [one["name"] for one in crossed["systems"]] == ["fusion (cross-validated)"]
    three = [accepted[kinds == k] for k in range(3)]
    assert crossed["cascade"]["act_a_dcf"] == pytest.approx(spoofing.act_a_dcf(*three, threshold=0.5, **costs))
    assert crossed["cascade"]["min_a_dcf"] is None
    for cascade, names in ((dev["cascade"], ("min_a_dcf", "act_a_dcf")), (crossed["cascade"], ("act_a_dcf",))):
        for name in names:
            assert cascade["intervals"][name]["low"] < cascade[name] < cascade["intervals"][name]["high"]
    code, out, _ = run(call)
    assert (code, "Training trials, cross-validated" in out) == (0, True)


@pytest.mark.usefixtures("here")
def test_files_in_the_wrong_order_and_other_options_are_told(run):
    code, _, err = run("fuse --spoof dev_asv.txt dev_cm.txt --key dev.key -o model.json -q --no-intervals")
    assert code == 0
    assert "dev_asv distinguishes targets from non-targets better than dev_cm: name the countermeasure first" in err
    for more, words in (
        ("dev_cm.txt", "Name two: a countermeasure, then a verifier"),
        ("dev_cm.txt dev_asv.txt --select", "--select: not for a fusion of a countermeasure (--spoof)"),
        ("dev_cm.txt dev_asv.txt --preset sre12", "sre12 has no metrics of spoofing"),
        ("dev_cm.txt dev_asv.txt --preset sasv2022 --dcf 0.5", "--dcf: sasv2022 defines its costs"),
    ):
        code, out, err = run(f"fuse --spoof {more} --key dev.key -o other.json")
        assert (code, out) == (2, "")
        assert words in err
    with pytest.raises(InputError, match="by: not for a fusion"):
        fuse_spoofing_files(["dev_cm.txt", "dev_asv.txt"], "dev.key", by="enroll")
