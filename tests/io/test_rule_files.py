"""Files of weightings of thresholds: the rules that they make, and what is wrong with others."""

import json
import re
import tomllib

import numpy as np
import pytest

from deciban import FormatError, rules
from deciban.io import read_rule
from deciban.metrics import act_dcf, scoring_rule_cost

GOOD = "eta = [0.01, 0.5, 0.2]\nweights = [0.25, 0.25, 0.5]\n"
TABLE = "eta, weights\n0.01,0.25\n0.5,0.25\n\n0.2,0.5\n"
TAR, NON = np.array([-0.5, 1.0, 3.0, 6.0]), np.array([-4.0, -1.0, 0.5, 1.0, 2.0])


def written(tmp_path, text, name="rule.toml"):
    path = tmp_path / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


@pytest.mark.parametrize(("text", "name"), [(GOOD, "rule.toml"), (TABLE, "rule.csv")])
def test_weights_are_detection_problems(tmp_path, text, name):
    rule, p = read_rule(written(tmp_path, text, name)), 0.1
    costs = [(0.25, 1 / 0.01, 1 / 0.99), (0.25, 2, 2), (0.5, 1 / 0.2, 1 / 0.8)]
    expected = sum(w * act_dcf(TAR, NON, p_target=p, c_miss=miss, c_fa=fa, normalize=False) for w, miss, fa in costs)
    assert rules.information(TAR, NON, rule=rule, p_target=p).cost == pytest.approx(expected, rel=1e-12)


def test_a_flat_density_is_the_logarithm(tmp_path):
    rule = read_rule(written(tmp_path, "eta = [0, 1]\ndensity = [1.0, 1.0]"))
    expected = scoring_rule_cost(TAR, NON, p_target=0.3, alpha=1.0, beta=1.0)
    assert rules.information(TAR, NON, rule=rule, p_target=0.3).cost == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("eta = [", "not TOML"),
        ("eta = " + 100_000 * "[", "not TOML .lists nested too deeply"),
        ("eta = [1" + 5000 * "0" + "]", "not TOML"),
        (b"\xff\xfe", "not text in UTF-8"),
        ("", "has nothing. A rule has eta and weights"),
        (GOOD + "costs = 1", "has 'eta', 'weights', 'costs'"),
        ("eta = [0.5]", "has 'eta'. A rule"),
        (GOOD.replace("0.01", "true"), "eta: True is not a number"),
        (GOOD.replace("0.01", "1" + 400 * "0"), "eta: a number is too large for 64 bits"),
        (GOOD.replace("0.01", "0.0"), "eta: expected a vector of thresholds"),
        (GOOD.replace("0.25,", "nan,"), "weights"),
        ("eta = []\nweights = []", r"eta: expected a list of numbers, got \[\]"),
        ("eta = 0.5\nweights = [1]", "eta: expected a list of numbers, got 0.5"),
    ],
)
def test_hostile_files_are_refused(tmp_path, text, message):
    with pytest.raises(FormatError, match=f"rule.toml: {message}"):
        read_rule(written(tmp_path, text))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (TABLE.replace("0.2,0.5", "0.2"), "row 5 has 1 columns, not 2"),
        (TABLE.replace("0.2,0.5", "0.2,much"), "weights: 'much' is not a number"),
        (TABLE.replace("weights", "weight"), "has 'eta', 'weight'"),
        (TABLE.replace("weights", "eta"), "eta: two columns have this name"),
        ("eta,weights\n", "eta: expected a list of numbers"),
    ],
)
def test_hostile_tables_are_refused(tmp_path, text, message):
    with pytest.raises(FormatError, match=f"rule.csv: {message}"):
        read_rule(written(tmp_path, text, "rule.csv"))


@pytest.mark.parametrize(
    "text",
    [
        "eta = [0.5, 0.9]\nweights = [0.2, -0.3]",
        "eta = [0.2, 0.5]\nweights = [-0.01, 1]",
        "eta = [0, 0.5, 1]\ndensity = [1, -1, 1]",
    ],
)
def test_negative_weights_are_refused_with_who_would_lie(tmp_path, text):
    with pytest.raises(FormatError, match="With negative .* may reward wrong forecasts") as caught:
        read_rule(written(tmp_path, text))
    words = str(caught.value)
    truth, report = (np.array(json.loads(one)) for one in re.findall(r"(?:truth|but reporting) (\[.*?\])", words))
    told, better = (float(one.rstrip(".")) for one in re.findall(r"(?:expected cost|only) (-?[\d.e-]+)", words))
    given = tomllib.loads(text)
    assert better < told
    if "weights" in given:  # the costs of each detection problem, by hand
        costs = [
            sum(w * (truth[0] / e if q < e else truth[1] / (1 - e)) for e, w in zip(*given.values(), strict=True))
            for q in (truth[0], report[0])
        ]
        assert costs == pytest.approx([told, better], rel=2e-3, abs=1e-6)


def test_what_makes_no_rule_is_not_called_improper(tmp_path):
    with pytest.raises(FormatError, match="weights: expected 3 numbers of at least 0"):
        read_rule(written(tmp_path, GOOD.replace("0.25, 0.25", "-0.25")))
