"""Files of probabilities: what is made of them, by either kind, and that models remember it."""

import numpy as np
import pytest
from scipy.special import expit, softmax

from deciban import apply_files, evaluate, evaluate_classes, evaluate_files, load_model, read_scores, train_files
from deciban.calibration import AffineCalibrator, MulticlassCalibrator
from deciban.errors import FormatError, InputError
from deciban.io import read_class_scores
from deciban.workflows import Options
from support.class_files import CLASSES, trials, write_key, write_table

PRIOR, PRIORS = 0.2, {"dog": 0.3, "cat": 0.5, "eel": 0.2}
N = 60


@pytest.fixture
def two(tmp_path):
    """Log-likelihood ratios and the probabilities that they make of a prior, with a key."""
    llr = np.random.default_rng(3).normal(size=N) + 2.0 * (np.arange(N) % 2)
    posterior = expit(llr + np.log(PRIOR / (1 - PRIOR)))
    for name, values in (("llr", llr), ("p", posterior)):
        (tmp_path / f"{name}.txt").write_text("".join(f"t{i} {value!r}\n" for i, value in enumerate(values.tolist())))
    words = (f"t{i} {'target' if i % 2 else 'nontarget'}\n" for i in range(N))
    (tmp_path / "key.txt").write_text("".join(words))
    return tmp_path, llr


@pytest.fixture
def many(tmp_path):
    """The same of three classes."""
    loglik, label = trials()
    write_table(tmp_path / "p.csv", softmax(loglik + np.log([0.5, 0.3, 0.2]), axis=1))
    write_table(tmp_path / "loglik.csv", loglik)
    write_key(tmp_path / "key.csv", label)
    return tmp_path, loglik, label


@pytest.mark.parametrize("prior", [PRIOR, [PRIOR], np.float64(PRIOR)])
def test_figures_of_two_classes_are_those_of_the_llrs(two, prior):
    folder, llr = two
    found = evaluate_files(folder / "p.txt", folder / "key.txt", probabilities=prior)
    truth = evaluate(llr[1::2], llr[::2])
    assert found.systems[0].cllr == pytest.approx(truth.cllr, rel=1e-12)
    assert found.systems[0].operating_points[0].n_miss == truth.operating_points[0].n_miss
    assert "note  scores are probabilities with prior 0.2; they were converted to log-likelihood ratios in nats" in map(
        str, found.messages
    )


@pytest.mark.parametrize("prior", [PRIORS, [0.5, 0.3, 0.2]])
def test_figures_of_many_classes_are_those_of_the_log_likelihoods(many, prior):
    folder, loglik, label = many
    found = evaluate_files(folder / "p.csv", folder / "key.csv", probabilities=prior)
    truth = evaluate_classes(loglik, label)
    assert found.systems[0].cllr == pytest.approx(truth.cllr, rel=1e-12)
    np.testing.assert_array_equal(found.systems[0].confusion, truth.confusion)
    assert any("with prior cat=0.5,dog=0.3,eel=0.2" in str(one) for one in found.messages)


def test_certainty_is_counted(two, many):
    folder, llr = two
    lines = (folder / "p.txt").read_text().splitlines()
    (folder / "p.txt").write_text("\n".join(["t0 0", "t1 1.0", *lines[2:]]) + "\n")
    found = evaluate_files(folder / "p.txt", folder / "key.txt", probabilities=PRIOR)
    assert any("2 trials with a probability of exactly 0 or 1" in str(one) for one in found.messages)
    infinite = llr.copy()
    infinite[:2] = -np.inf, np.inf
    assert found.systems[0].n_infinite == 2
    assert found.systems[0].cllr == pytest.approx(evaluate(infinite[1::2], infinite[::2]).cllr, rel=1e-12)
    table = softmax(many[1], axis=1)
    table[0] = np.eye(3)[many[2][0]]
    write_table(folder / "p.csv", table)
    found = evaluate_files(folder / "p.csv", folder / "key.csv", probabilities="flat")
    assert any("1 segment with a probability of exactly 0 or 1" in str(one) for one in found.messages)


def test_what_is_no_probability_is_refused_with_its_place(two, many):
    folder = two[0]
    assert many[0] == folder  # files of both kinds in one folder
    with pytest.raises(FormatError, match=r"llr.txt:1: probabilities: \d+ of 60 trials have scores outside .0, 1."):
        evaluate_files(folder / "llr.txt", folder / "key.txt", probabilities=PRIOR)
    write_table(folder / "bad.csv", np.array([[0.5, 0.25, 0.25], [0.5, 0.25, 0.2]]))
    write_key(folder / "bad.key", np.array([0, 1]))
    with pytest.raises(FormatError, match=r"bad.csv:3: probabilities: .*do not sum to 1, the first here to 0.95"):
        evaluate_files(folder / "bad.csv", folder / "bad.key", probabilities="flat")
    with pytest.raises(InputError, match="one number inside"):
        evaluate_files(folder / "p.txt", folder / "key.txt", probabilities=[0.5, 0.5])
    with pytest.raises(InputError, match="multiclass scores need the prior of each class"):
        evaluate_files(folder / "p.csv", folder / "key.csv", probabilities=0.5)
    with pytest.raises(InputError, match="'eel' is 0"):
        evaluate_files(folder / "p.csv", folder / "key.csv", probabilities=[0.5, 0.5, 0.0])


@pytest.mark.parametrize("other", [{"log10": True}, {"posterior_prior": "flat"}, {"detection_llr": True}])
def test_scores_are_one_thing(other):
    with pytest.raises(InputError, match="not both"):
        Options.of("f", {"probabilities": 0.5, **other})


def test_a_fill_is_a_log_likelihood_ratio(two):
    folder, llr = two
    (folder / "p.txt").write_text((folder / "p.txt").read_text().partition("\n")[2])
    found = evaluate_files(folder / "p.txt", folder / "key.txt", probabilities=PRIOR, missing=-1.5)
    filled = np.append(-1.5, llr[1:])
    assert found.systems[0].cllr == pytest.approx(evaluate(filled[1::2], filled[::2]).cllr, rel=1e-12)


def test_models_of_two_classes_remember(two):
    folder, _ = two
    done = train_files(folder / "p.txt", folder / "key.txt", AffineCalibrator(), probabilities=PRIOR)
    plain = train_files(folder / "llr.txt", folder / "key.txt", AffineCalibrator())
    assert done.model.scale_ == pytest.approx(plain.model.scale_, rel=1e-9)
    done.model.save(folder / "m.json")
    model, out = load_model(folder / "m.json"), folder / "out.txt"
    assert model.training_.results["probabilities"] == "0.2"
    apply_files(model, folder / "p.txt", out, probabilities=PRIOR)
    expected = plain.model.transform(read_scores(folder / "llr.txt").score)
    np.testing.assert_allclose(read_scores(out).score, expected, rtol=1e-9, atol=1e-9)
    for given, words in (({}, "not declared as such"), ({"probabilities": 0.5}, "these have the prior 0.5")):
        with pytest.raises(InputError, match=words):
            apply_files(model, folder / "p.txt", out, **given)
        with pytest.raises(InputError, match=words):
            evaluate_files(folder / "p.txt", folder / "key.txt", model=model, **given)
    with pytest.raises(InputError, match="not declared as probabilities"):
        apply_files(plain.model, folder / "p.txt", out, probabilities=PRIOR)


def test_models_of_many_classes_remember_by_name(many):
    folder, loglik, _ = many
    done = train_files(folder / "p.csv", folder / "key.csv", MulticlassCalibrator(), probabilities=PRIORS)
    assert done.model.training_.results["probabilities"] == "cat=0.5,dog=0.3,eel=0.2"
    turned = read_class_scores(folder / "p.csv").of_classes(CLASSES[::-1])
    write_table(folder / "turned.csv", turned.score, header=CLASSES[::-1])
    apply_files(done.model, folder / "turned.csv", folder / "out.csv", probabilities=[0.2, 0.3, 0.5])
    made = read_class_scores(folder / "out.csv").of_classes(CLASSES).score
    expected = done.model.transform(loglik)
    np.testing.assert_allclose(made - made[:, :1], expected - expected[:, :1], atol=1e-9)
    with pytest.raises(InputError, match="with the prior cat=0.5,dog=0.3,eel=0.2"):
        apply_files(done.model, folder / "p.csv", folder / "out.csv", probabilities="flat")


def test_models_are_told_of_scores_that_look_like_probabilities(two, many):
    folder, llr = two
    model = AffineCalibrator().fit(llr, np.arange(N) % 2 == 1)
    told = apply_files(model, folder / "p.txt", folder / "o.txt")
    assert any("p.txt   the scores look like probabilities" in str(one) for one in told)
    assert not any("look like" in str(one) for one in apply_files(model, folder / "llr.txt", folder / "o.txt"))
    model = MulticlassCalibrator().fit(*many[1:], classes=CLASSES)
    assert any(
        "p.csv   the scores look like" in str(one) for one in apply_files(model, folder / "p.csv", folder / "o.csv")
    )
    assert not any("look like" in str(one) for one in apply_files(model, folder / "loglik.csv", folder / "o.csv"))


def test_a_prior_by_position_is_in_the_order_of_the_first_system(many):
    folder, loglik, label = many
    turned = read_class_scores(folder / "p.csv").of_classes(CLASSES[::-1])
    write_table(folder / "turned.csv", turned.score, header=CLASSES[::-1])
    found = evaluate_files([folder / "p.csv", folder / "turned.csv"], folder / "key.csv", probabilities=[0.5, 0.3, 0.2])
    for one in found.systems:
        assert one.cllr == pytest.approx(evaluate_classes(loglik, label).cllr, rel=1e-12)
