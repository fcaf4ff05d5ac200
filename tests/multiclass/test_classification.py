"""F1 scores of classes against scikit-learn, and calibration errors of multiclass posteriors."""

import numpy as np
import pytest
from sklearn.metrics import f1_score, recall_score

from deciban import metrics, multiclass
from deciban.errors import InputError
from deciban.evaluation import evaluate_classes

RNG = np.random.default_rng(8)
LABEL = RNG.integers(0, 4, 400)
POSTERIOR = RNG.dirichlet(np.ones(4), 400) * 0.5 + 0.5 * np.eye(4)[RNG.integers(0, 4, 400)]
SHARES = np.bincount(LABEL) / 400
LOGLIK = np.log(POSTERIOR) - np.log(SHARES)


def test_f1_and_recall_are_those_of_scikit_learn():
    decided = POSTERIOR.argmax(axis=1)
    found = multiclass.class_f1(LOGLIK, LABEL, prior=SHARES)
    np.testing.assert_allclose(found, f1_score(LABEL, decided, average=None), rtol=1e-14)
    assert found.mean() == pytest.approx(f1_score(LABEL, decided, average="macro"), rel=1e-14)
    recall = 1 - multiclass.class_error_rates(LOGLIK, LABEL, prior=SHARES)
    np.testing.assert_allclose(recall, recall_score(LABEL, decided, average=None), rtol=1e-14)
    evaluated = evaluate_classes(LOGLIK, LABEL, prior=SHARES, subsets=False, pairs=False)
    assert evaluated.macro_f1 == pytest.approx(found.mean(), rel=1e-14)
    assert {row.metric: row.value for row in evaluated.metrics}["macro_f1"] == evaluated.macro_f1
    weight = RNG.integers(0, 3, 400)
    weighted = f1_score(LABEL, decided, average=None, sample_weight=weight)
    np.testing.assert_allclose(multiclass.class_f1(LOGLIK, LABEL, prior=SHARES, sample_weight=weight), weighted)


@pytest.mark.parametrize("scheme", ["width", "mass"])
def test_calibration_errors_of_posteriors_at_the_shares_of_the_data(scheme):
    """By a loop over bins; for scheme mass, bins of equal numbers of trials."""

    def expected(chance, is_right):
        order = np.argsort(chance, kind="stable")
        if scheme == "mass":
            rank = np.empty(400, int)
            rank[order] = np.arange(400)
            at = ((rank + 0.5) / 400 * 10).astype(int)
        else:
            at = np.minimum((chance * 10).astype(int), 9)
        return sum(abs((is_right[at == b] - chance[at == b]).sum()) for b in range(10)) / 400

    each = [expected(POSTERIOR[:, k], k == LABEL) for k in range(4)]
    how = {"prior": SHARES, "bins": 10, "scheme": scheme}
    assert multiclass.ece(LOGLIK, LABEL, **how) == pytest.approx(np.mean(each), abs=1e-12)
    top = expected(POSTERIOR.max(axis=1), POSTERIOR.argmax(axis=1) == LABEL)
    assert multiclass.ece(LOGLIK, LABEL, kind="top-label", **how) == pytest.approx(top, abs=1e-12)


def test_two_classes_have_the_error_of_two_class_scores():
    tar, non = RNG.normal(1, 1, 50), RNG.normal(-1, 1, 80)
    llr = np.append(tar, non)
    table, label = np.column_stack([llr, np.zeros(130)]), np.repeat([0, 1], [50, 80])
    wanted = metrics.ece(tar, non, prior=0.3, bins=7)
    assert multiclass.ece(table, label, prior=[0.3, 0.7], bins=7) == pytest.approx(wanted, abs=1e-12)
    with pytest.raises(InputError, match="kind: got 'all'"):
        multiclass.ece(table, label, kind="all")
    with pytest.raises(InputError, match="prior"):
        multiclass.ece(table, label, prior=[1.0, 0.0])
