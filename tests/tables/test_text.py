"""Tables by condition: every line stands with the table that it is about."""

import numpy as np

import deciban

LABEL = np.arange(120) % 3 == 0
FRAME = {
    "score": np.random.default_rng(0).normal(np.where(LABEL, 2.0, -2.0)),
    "label": LABEL,
    "channel": np.where(np.arange(120) < 50, "mic", "tel"),
    "gender": np.where(np.arange(120) % 2, "m", "f"),
    "seconds": np.arange(120) / 2.0,
    "speaker": np.arange(120) // 4,
}


def told(**asked):
    """Lines of every table, by its heading."""
    return told_of(FRAME, **asked)


def told_of(frame, **asked):
    text = deciban.evaluate(frame, score=["score"], units="speaker", **asked).table()
    parts = (part.split("\n") for part in text.split("\n\n"))
    return {lines[0]: lines[1:] for lines in parts}


def test_what_counts_alike_is_said_below_its_own_table():
    found = told(by=["channel", "gender"], equalize="channel")
    says = {heading: any(line.startswith("equalized: ") for line in lines) for heading, lines in found.items()}
    assert says.pop("by channel")
    assert not any(says.values())


def test_bins_of_one_column_are_no_bins_of_another_split():
    found = told(by="seconds:20", equalize="seconds:10,30")
    assert not any(line.startswith("equalized") for line in found["by seconds:20"])
    alone = found["equalized over seconds:10,30"]
    assert "3 conditions" in alone[-1] or "3 conditions" in alone[-2]


def test_conditions_without_metrics_have_no_row_and_one_sentence_counts_them():
    attack = np.where(LABEL, "-", [f"a{k % 30:02d}" for k in range(120)])
    attack[np.argmax(LABEL)] = "zz"  # so that targets have two values
    lines = told_of(dict(FRAME, attack=attack), by="attack")["by attack"]
    assert [line.split()[0] for line in lines[:2]] == ["attack", "pooled"]
    said = (
        "22 of 22 conditions are left out of the table: 2 without non-targets (attack -, attack zz), 20 without targets"
    )
    assert [line.startswith(said) for line in lines].count(True) == 1
    assert not any(" - " in line for line in lines[2:])
    assert any('where={"attack": "-|a01"}' in line for line in lines)


def test_costs_of_many_classes_have_the_digits_of_the_main_table_and_a_mean():
    rng = np.random.default_rng(1)
    label = np.arange(150) % 3
    loglik = rng.normal(size=(150, 3)) + 1.5 * np.eye(3)[label]
    frame = {name: loglik[:, k] for k, name in enumerate("xyz")} | {"class": np.array(list("xyz"))[label]}
    frame["source"] = np.where(np.arange(150) < 90, "tel", "tv")
    found = deciban.evaluate_classes(
        frame, score={"one": list("xyz")}, classes=list("xyz"), by="source", p_target=[0.5, 0.1], units="trials"
    )
    (system,) = found.systems
    below = found.table().partition("by source")[2]
    for value in (system.points[0].c_avg, system.mean_costs["c_avg"]):
        assert f"{value:.4f} [" in below


def test_conditions_with_doubtful_intervals_are_named_in_one_line():
    """Every room is perfectly separated; pooled scores are not, as a shift of one room mixes them."""
    label, place = np.arange(1000) % 2 == 0, np.arange(1000) // 200
    score = np.where(label, 1.0, -1.0) + np.random.default_rng(3).uniform(-0.5, 0.5, 1000) + 3.0 * place
    frame = {"score": score, "label": label, "room": [f"r{k}" for k in place], "speaker": np.arange(1000) // 2}
    lines = told_of(frame, by="room")["by room"]
    (line,) = [line for line in lines if line.startswith("Some intervals can be too narrow")]
    assert line.endswith("in room r0; room r1; room r2 and 2 more")
    noise = np.random.default_rng(4).normal(0.0, 3.0, 1000)
    sound = told_of(dict(frame, score=np.where(label, 1.0, -1.0) + noise), by="room")["by room"]
    assert not any("may be too narrow" in line for line in sound)
