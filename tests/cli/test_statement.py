"""``deciban statement``: numbers, words of scales, bounds and data of models."""

import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deciban.calibration import AffineCalibrator, Chain, ElubCalibrator
from deciban.errors import FormatError, InputError
from deciban.workflows import statement, verbal_scales

TWO = ("same speaker", "different speakers")


@pytest.mark.parametrize(
    ("lr", "expression"),
    [
        (1.5, ""),
        (2, "weak"),
        (9.99, "weak"),
        (10, "moderate"),
        (99, "moderate"),
        (100, "moderately strong"),
        (1000, "strong"),
        (1e4, "very strong"),
        (999_999, "very strong"),
        (1e6, "extremely strong"),
        (1e30, "extremely strong"),
    ],
)
@pytest.mark.parametrize("sign", [1, -1])
def test_the_scale_of_enfsi_begins_at_two(lr, expression, sign):
    scale = verbal_scales()["enfsi2015"]
    found, sentence, (low, high) = scale.words(sign * math.log(lr), TWO)
    assert found == expression
    assert low <= lr * (1 + 1e-6)
    assert lr < high
    if expression:
        first, second = TWO if sign > 0 else TWO[::-1]
        assert sentence.index(first) < sentence.index(second)
        assert f"{expression} support" in sentence
    else:
        assert (sentence == scale.neutral) == (lr == 1)
        assert lr == 1 or "no words for likelihood ratios between 1/2 and 2" in sentence


@given(st.floats(-600, 600))
def test_a_statement_of_the_opposite_swaps_the_propositions(llr):
    one, other = (statement(sign * llr, propositions=TWO, scale="enfsi2015") for sign in (1, -1))
    mirrored = statement(-llr, propositions=TWO[::-1], scale="enfsi2015")
    assert mirrored.sentence == one.sentence
    assert one.scale.words(one.llr, TWO)[0] == other.scale.words(other.llr, TWO)[0]
    assert len(one.sentence) == len(other.sentence)


@pytest.fixture
def model(tmp_path):
    """A calibration with bounds."""
    rng = np.random.default_rng(5)
    scores = np.concatenate([rng.normal(2, 1, 60), rng.normal(-2, 1, 200)])
    chain = Chain(AffineCalibrator(), ElubCalibrator()).fit(scores, np.arange(260) < 60)
    chain.save(tmp_path / "model.json")
    return tmp_path / "model.json", chain.steps[-1]


def test_the_bounds_of_a_model_limit_the_statement(model):
    path, elub = model
    found = statement(50.0, propositions=TWO, model=path, interval=(1.0, 60.0))
    assert (found.llr, found.typed, found.limits) == (elub.high_, 50.0, (elub.low_, elub.high_))
    assert found.interval == (1.0, elub.high_)
    texts = dict(found.rows)
    assert "; log10 LR 21.71 was reduced to 2.17" in texts["limits"]
    assert texts["model"] == "affine, elub, trained on 60 target and 200 non-target trials"
    assert statement(0.5, propositions=TWO, model=path).llr == 0.5
    plain = AffineCalibrator().fit([1.0, 2.0, 0.0, 1.5], [True, True, False, False])
    assert "none: the model can" in dict(statement(50.0, propositions=TWO, model=plain).rows)["limits"]


def test_units_are_nats_unless_logarithms_to_base_10_are_named():
    one = statement(2.5, propositions=TWO, unit="log10", interval=(2.0, 3.0))
    assert one.llr == pytest.approx(2.5 * math.log(10))
    assert one.to_dict()["log10_lr"] == pytest.approx(2.5)
    assert one.to_dict()["lr"] == pytest.approx(10**2.5)
    assert one.interval == pytest.approx((2 * math.log(10), 3 * math.log(10)))
    assert dict(one.rows)["likelihood ratio"] == "320; log10 LR 2.50; llr 5.756 nats"


@pytest.mark.parametrize(
    ("llr", "words"),
    [
        (0.0, "equally probable under both"),
        (math.log(1.24), "about 1.2 times"),
        (math.log(9.6), "about 9.6 times"),
        (math.log(12_345), "about 12,000 times"),
        (60.0, "about 10^26.1 times"),
    ],
)
def test_factors_have_two_digits(llr, words):
    assert words in statement(llr, propositions=TWO).sentence


OWN = """[ours]
title = "Ours"
source = "our laboratory"
status = "verified"
steps = [[3, "some"], [30, "much"]]
sentence = "{expression}: {stronger}, not {weaker}."
neutral = "None."
"""


def test_a_laboratory_can_bring_its_own_scale(tmp_path, run):
    (tmp_path / "ours.toml").write_text(OWN)
    call = [
        "statement",
        "--llr",
        "4",
        "--propositions",
        "same 'voice'",
        "other",
        "--scale",
        str(tmp_path / "ours.toml"),
    ]
    code, out, err = run(" ".join(f'"{one}"' for one in [*call, "--json"]))
    assert code == 0, err
    assert json.loads(out)["verbal"] == {
        "name": "ours",
        "source": "our laboratory",
        "status": "verified",
        "expression": "much",
        "sentence": "much: same 'voice', not other.",
        "low": 30,
        "high": "inf",
    }


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (("[ours]", "x = 1\n[ours]"), "must contain one table"),
        (("status = ", "states = "), "a scale has the keys"),
        (("[3,", "[0.5,"), "ascending from 1"),
        (("[[3, ", "[[50, "), "ascending from 1"),
        (("{weaker}", "{0}"), "must contain {expression}, {stronger}, {weaker}"),
        (("{weaker}.", "{weaker} }."), "must contain {expression}, {stronger}, {weaker}"),
        (("[3,", "[true,"), "ascending from 1"),
        (('"some"', '" "'), "pairs of the lowest LR and an expression"),
        (("steps", "steps ="), "A scale is a table in TOML"),
    ],
)
def test_a_damaged_scale_is_refused(change, words, tmp_path):
    (tmp_path / "ours.toml").write_text(OWN.replace(*change))
    with pytest.raises(FormatError, match=words.replace("{", r"\{")):
        statement(1.0, propositions=TWO, scale=tmp_path / "ours.toml")


@pytest.mark.parametrize(
    ("given_llr", "more", "words"),
    [
        (math.inf, {}, "needs a finite number; bound infinite llrs first"),
        (math.nan, {}, "needs a finite number"),
        ("x", {}, "needs a finite number"),
        (1e308, {"unit": "log10"}, "needs a finite number"),
        (1.0, {"propositions": ("a", "a")}, "both are 'a'"),
        (1.0, {"propositions": ("a",)}, "name two"),
        (1.0, {"propositions": ("a", " ")}, "name two"),
        (1.0, {"propositions": "ab"}, "name two"),
        (1.0, {"scale": "enfsi"}, "Use one of enfsi2015, afsp2009"),
        (1.0, {"interval": (2.0, 3.0)}, "does not contain the llr"),
        (1.0, {"interval": (2.0, 0.5)}, "Write the lower bound first"),
    ],
)
def test_what_cannot_be_stated_is_refused(given_llr, more, words):
    with pytest.raises(InputError, match=words):
        statement(given_llr, **{"propositions": TWO, **more})


def test_a_page_on_standard_output_stands_alone(run):
    call = "statement --llr 2 --propositions first second -o -"
    code, out, err = run(call)
    assert (code, out.rstrip().endswith("</html>"), "wrote standard output" in err) == (0, True, True)
    code, out, err = run(f"{call} --json")
    assert (code, out, "both the output (-) and --json" in err) == (2, "", True)


def test_nothing_is_invented(run):
    code, out, err = run("statement --llr 2")
    assert (code, out) == (2, "")
    assert "--propositions" in err
    code, out, _ = run("statement --llr 2 --propositions first second")
    assert code == 0
    assert "support" not in out


def test_a_ratio_is_not_taken_for_its_logarithm(run):
    asked = "statement --propositions same different --scale enfsi2015"
    assert run(f"{asked} --lr 330")[1] == run(f"{asked} --llr {math.log(330)!r}")[1]
    assert run(f"{asked} --lr 2 --interval 0.5 4")[1].count("LR 0.5 to 4") == 0
    assert "LR 1 / 2 to 4;" in run(f"{asked} --lr 2 --interval 0.5 4")[1]
    doubt = "--llr 330 was read as a natural logarithm: is it an LR (--lr) or log10 (--log10)?"
    assert doubt in run(f"{asked} --llr 330")[2]
    for sure in ("--lr 1e12", "--llr 12 --log10"):
        assert "natural logarithm:" not in run(f"{asked} {sure}")[2]
    for wrong in ("", "--lr 0", "--lr nan", "--lr inf", "--lr 3 --llr 1", "--lr 3 --log10", "--lr 3 --interval 4 5"):
        code, out, err = run(f"{asked} {wrong}")
        assert (code, out) == (2, "")
        assert "lr" in err or "does not contain 3" in err


def test_a_ratio_that_is_written_as_1_supports_neither():
    assert (
        statement(-0.02, propositions=TWO).sentence
        == "The findings are about equally probable under both propositions."
    )
