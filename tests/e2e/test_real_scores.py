"""Real score sets, where they are at hand: joins, and identities that hold on any data."""

import math

import numpy as np
import pytest

from deciban import align, evaluate, evaluate_files, metrics, read_key, read_scores


def test_asvspoof_files_join_on_the_trial_not_on_the_line(real_data):
    folder = real_data / "asvspoof19_la_dev_cm2"
    paths = [folder / "system_a.txt", folder / "system_b.txt"]
    results = evaluate_files(paths)
    assert (results.join.matched, results.join.missing, results.join.extra) == (24_844, 0, 0)
    for path, system in zip(paths, results.systems, strict=True):
        rows = [line.split() for line in path.read_text().splitlines()]
        tar = np.array([float(row[3]) for row in rows if row[2] == "bonafide"])
        non = np.array([float(row[3]) for row in rows if row[2] == "spoof"])
        assert (system.n_tar, system.n_non) == (2548, 22_296) == (len(tar), len(non))
        assert system.cllr == pytest.approx(metrics.cllr(tar, non), rel=1e-13)
        assert system.eer == metrics.eer(tar, non)
    # The key of one file serves the scores of the other.
    crossed = align(read_scores(paths[1]), read_key(paths[0]))
    assert metrics.eer(crossed.tar, crossed.non) == results.systems[1].eer


def test_plda_scores_through_numpy(real_data):
    folder = real_data / "sv_plda_calibration"
    figures = {}
    for part in ("trn", "tst"):
        posterior = np.load(folder / f"{part}_predictions.npy").astype(np.float64)
        label = np.load(folder / f"{part}_targets.npy")
        score = posterior[:, 1] - posterior[:, 0]
        tar, non = score[label == 1], score[label == 0]
        result = figures[part] = evaluate(tar, non)
        assert result.min_cllr <= result.cllr
        edges = np.linspace(-60, 60, 240_001)
        area = np.trapezoid(metrics.bayes_error(tar, non, prior_log_odds=edges), edges)
        assert area == pytest.approx(2 * math.log(2) * result.cllr, rel=1e-3)
    assert (figures["trn"].n_tar, figures["trn"].n_non) == (1177, 118_997)
    assert (figures["tst"].n_tar, figures["tst"].n_non) == (1964, 112_108)
    # The test scores are far off calibration and almost separable.
    assert figures["tst"].calibration_loss > 5 * figures["tst"].min_cllr
