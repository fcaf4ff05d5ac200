"""Files of costs: what they hold, and what is wrong with others, by key and row."""

import pytest

from deciban import FormatError, InputError
from deciban.io.decision_files import read_costs

GOOD = 'actions = ["yes", "no"]\nclasses = ["target", "other"]\ncosts = [[0, 1.5], [10, 0]]\n'


def written(tmp_path, text):
    path = tmp_path / "costs.toml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def test_costs_and_priors(tmp_path):
    table = read_costs(written(tmp_path, GOOD + "prior = [0.1, 0.9]"))
    assert (table.actions, table.classes, table.costs.tolist()) == (
        ("yes", "no"),
        ("target", "other"),
        [[0, 1.5], [10, 0]],
    )
    assert table.application().prior.tolist() == [0.1, 0.9]
    assert read_costs(written(tmp_path, GOOD + "prior = 0.1")).application().prior.tolist() == [0.1, 0.9]
    assert table.application(0.25).prior.tolist() == [0.25, 0.75]
    assert table.application({"other": 0.6, "target": 0.4}).prior.tolist() == [0.4, 0.6]
    assert table.application("flat").prior.tolist() == [0.5, 0.5]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("costs = [", "not TOML"),
        (b"\xff\xfe", "not text in UTF-8"),
        (GOOD.replace("classes", "klasses"), "has no classes"),
        (GOOD + "weights = 1", "has the unknown key weights"),
        (GOOD.replace('"no"', '"yes"'), "actions: 'yes' occurs 2 times"),
        (GOOD.replace('["yes", "no"]', "3"), "actions: expected a list of names"),
        (GOOD.replace(", [10, 0]", ""), "costs: 1 rows for 2 actions"),
        (GOOD.replace("[10, 0]", "[10]"), r"costs of no: \[10\] for 2 classes"),
        (GOOD.replace("10", "-1"), "costs of no when target is true: -1"),
        (GOOD.replace("10", "nan"), "costs of no when target is true: nan"),
        (GOOD.replace("10", '"ten"'), "costs of no when target is true: 'ten'"),
        (GOOD.replace("10", "1" + 400 * "0"), "costs of no when target is true: 1000"),
        (GOOD.replace("10", "1" + 5000 * "0"), "numbers too long"),
        ("costs = " + 100_000 * "[", "lists nested too deeply"),
        (GOOD + "prior = [0.5, 0.6]", "prior: probabilities sum to 1.1"),
    ],
)
def test_hostile_files_are_refused_with_key_and_row(tmp_path, text, message):
    with pytest.raises(FormatError, match=f"costs.toml: .*{message}|costs.toml: {message}"):
        read_costs(written(tmp_path, text))


def test_a_prior_has_to_be_said(tmp_path):
    table = read_costs(written(tmp_path, GOOD))
    with pytest.raises(InputError, match="you gave none, and .*costs.toml contains none"):
        table.application()
    for prior in (1.5, 0.0, 1):
        with pytest.raises(InputError, match=rf"prior: {prior}.*of target must be inside \(0, 1\)"):
            table.application(prior)
