"""Pictures that need more than results: as files, from the options of the commands that print their numbers."""

import json

import jsonschema
import numpy as np
import pytest

import deciban
from deciban.calibration import AffineCalibrator, MulticlassCalibrator
from deciban.cli import plot as pictures
from deciban.fusion import LinearFusion
from deciban.io import write_demo


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    folder = tmp_path_factory.mktemp("demo")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("deciban.io.demos._SPEAKERS", 40)
        write_demo(folder)
    lines = (folder / "key.txt").read_text().splitlines()
    table = [
        "enroll test truth channel weight",
        *(f"{line} {('tel', 'mic')[k % 2]} {k % 3}" for k, line in enumerate(lines)),
    ]
    (folder / "by.csv").write_text("\n".join(table).replace(" ", ",") + "\n")
    pairs = [(k, i) for k in range(6) for i in range(24)]
    lines = [f"g{k},p{i},{'target' if k == i % 8 else 'nontarget'},{(k * i) % 7}" for k, i in pairs]
    (folder / "faces.csv").write_text("\n".join(["enroll,test,label,score", *lines]) + "\n")
    rng, is_target = np.random.default_rng(1), np.arange(120) % 3 == 0
    scores = np.where(is_target, 1.0, -1.0)[:, None] * [1.0, 0.4] + rng.normal(size=(120, 2))
    LinearFusion().fit(scores, is_target, units=np.arange(120) // 4).save(folder / "fusion.json")
    AffineCalibrator().fit(scores[:, 0], is_target, units=np.arange(120) // 4).save(folder / "affine.json")
    label = np.arange(120) % 3
    loglik = rng.normal(size=(120, 3)) + np.eye(3)[label]
    MulticlassCalibrator().fit(loglik, label, classes=["ant", "bee", "cat"]).save(folder / "classes.json")
    return folder


@pytest.fixture
def draw(demo, run):
    """Run a command of pictures with names of files in the folder."""

    def drawn(command):
        names = (
            "sysA.txt",
            "sysB.txt",
            "key.txt",
            "by.csv",
            "faces.csv",
            "fusion.json",
            "affine.json",
            "classes.json",
            "out.svg",
        )
        return run("plot", *(demo / word if word in names else word for word in command.split()))

    return drawn


SYSTEMS = "sysA.txt sysB.txt --key"
COMMANDS = {
    "forest": f"forest {SYSTEMS} key.txt --metric eer",
    "difference-curve": f"difference-curve {SYSTEMS} key.txt --against first",
    "by-condition": f"by-condition {SYSTEMS} by.csv --by channel --metric cllr",
    "condition-map": "condition-map sysA.txt --key by.csv --by channel --figure eer,cllr",
    "score-scatter": f"score-scatter {SYSTEMS} key.txt --model fusion.json --dcf 0.5",
    "zoo": f"zoo {SYSTEMS} key.txt",
    "subjects": "subjects sysA.txt --key key.txt",
    "cmc": "cmc faces.csv",
    "fusion-weights": "fusion-weights fusion.json --level 0.9",
    "class-parameters": "class-parameters classes.json --parameter scale",
    "calibration-map": "calibration-map sysA.txt --key key.txt --model affine.json",
    "dev-and-eval": "dev-and-eval sysA.txt --key key.txt --dev sysB.txt --dev-key key.txt",
    "scoring-rules": "scoring-rules",
    "rule-weights": "rule-weights --rule 2,1 --rule 1,1",
}


def test_the_command_line_draws_every_picture():
    assert set(COMMANDS) == set(pictures.PICTURES)


@pytest.mark.parametrize("plot", COMMANDS)
def test_every_picture_is_written(draw, demo, plot):
    (demo / "out.svg").unlink(missing_ok=True)
    code, out, told = draw(f"{COMMANDS[plot]} -o out.svg")
    assert code == 0, told
    assert "wrote" in out
    assert (demo / "out.svg").read_bytes().startswith(b"<?xml")


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("det sysA.txt --key key.txt --by channel", "--by: for by-condition, condition-map"),
        ("det sysA.txt --key key.txt --model fusion.json", "--model: for forest"),
        ("zoo sysA.txt --key key.txt --metric eer", "--metric: for forest"),
        ("condition-map sysA.txt --key by.csv", "--by gender"),
        ("fusion-weights fusion.json fusion.json", "shows one model, got 2 files"),
        ("fusion-weights fusion.json --key key.txt", "--key: for forest"),
        ("dev-and-eval sysA.txt --key key.txt", "name the other scores, for example --dev dev.txt"),
        ("dev-and-eval sysA.txt --key key.txt --dev sysA.txt --dev sysB.txt", "1 systems, but 2 files of --dev"),
        ("det sysA.txt --key key.txt --dev sysB.txt", "--dev: for dev-and-eval"),
        ("zoo sysA.txt --key key.txt --rule 1,1", "--rule: for scoring-rules"),
        ("scoring-rules sysA.txt", "shows rules, not scores"),
        ("rule-weights --rule 0,1", "alpha"),
        ("score-scatter sysA.txt --key key.txt", "score-scatter needs two systems, got 1"),
        ("calibration-map sysA.txt --key key.txt", "name its file, for example --model model.json"),
        ("calibration-map sysA.txt --key key.txt --model fusion.json", "shows two-class calibrations"),
        ("calibration-map sysA.txt sysB.txt --key key.txt --model affine.json", "got 2 systems"),
        ("class-parameters affine.json", "shows multiclass models"),
        ("fusion-weights fusion.json --parameter scale", "--parameter: for class-parameters"),
    ],
)
def test_what_would_be_overlooked_is_refused(draw, demo, command, words):
    (demo / "out.svg").unlink(missing_ok=True)
    code, _, told = draw(f"{command} -o out.svg")
    assert code == 2
    assert words in " ".join(told.split())
    assert not (demo / "out.svg").exists()


def test_a_picture_does_not_overwrite_its_model(run, demo):
    model = demo / "weights.svg"
    model.write_bytes((demo / "fusion.json").read_bytes())
    assert run("plot", "fusion-weights", model, "-o", model)[0] == 2
    assert model.read_bytes() == (demo / "fusion.json").read_bytes()


def test_sizes_are_checked_before_anything_is_read(draw):
    code, _, told = draw("zoo missing.txt --key missing.txt -o out.svg --size 85x60")
    assert (code, "each number needs its unit" in told) == (2, True)


def test_json_of_a_picture_holds_what_is_drawn(draw):
    """Numbers of the menagerie are those of its definition; curves of rules those of thesis 7.36."""
    found = json.loads(draw("zoo sysA.txt --key key.txt -o out.svg --json -q")[1])
    (zoo,) = found["drawn"]["zoos"]
    tar, non = np.array(zoo["tar_mean"]), np.array(zoo["non_mean"])
    low, high = np.quantile(tar, [0.25, 0.75]), np.quantile(non, [0.25, 0.75])
    assert zoo["members"]["worms"] == np.count_nonzero((tar <= low[0]) & (non >= high[1]))
    assert [zoo["tar_limits"], zoo["non_limits"]] == [pytest.approx(low), pytest.approx(high)]
    (brier,) = json.loads(draw("scoring-rules --rule 2,2 -o out.svg --json")[1])["drawn"]["rules"]
    p = 1 / (1 + np.exp(-np.array(brier["log_odds"])))
    assert brier["name"] == "Brier (2, 2)"
    np.testing.assert_allclose(brier["target"], 3 * (1 - p) ** 2, atol=1e-12)
    scatter = json.loads(draw(f"{COMMANDS['score-scatter']} -o out.svg --json")[1])
    cells = ("tar_counts", "non_counts", "edges")
    scatter["drawn"] |= {name: scatter["drawn"][name][:2] for name in cells}  # all are alike, and many
    jsonschema.Draft202012Validator(deciban.json_schemas()["plot"]).validate(scatter)
    (line,) = scatter["drawn"]["lines"]
    assert (line["point"], line["threshold"]) == ({"p_target": 0.5, "c_miss": 1.0, "c_fa": 1.0}, 0.0)
    np.testing.assert_allclose(brier["weight"], 6 * (p * (1 - p)) ** 2, atol=1e-12)


def test_json_of_a_model_of_classes_holds_its_numbers(draw, demo):
    found = json.loads(draw(f"{COMMANDS['class-parameters']} -o out.svg --json")[1])
    jsonschema.Draft202012Validator(deciban.json_schemas()["plot"]).validate(found)
    model = json.loads((demo / "classes.json").read_text())
    numbers = {(one["what"], one["whom"]): one["value"] for one in found["drawn"]["parameters"]}
    known = dict(zip((("offset", name) for name in ("ant", "bee", "cat")), model["parameters"]["offset"], strict=True))
    assert numbers == {("scale", ""): model["parameters"]["scale"], **known}


def test_trials_that_weigh_are_drawn_with_their_weights(draw, demo):
    """The sums of weights are those of the key, and cells hold all of them."""
    rows = [line.split(",") for line in (demo / "by.csv").read_text().splitlines()[1:]]
    weighed = json.loads(draw(f"score-scatter {SYSTEMS} by.csv --weights weight -o out.svg --json -q")[1])["drawn"]
    total = sum(int(row[4]) for row in rows if row[2] == "target")
    assert np.sum(weighed["tar_counts"]) == total > 0
    zoos = [
        json.loads(draw(f"zoo sysA.txt --key by.csv --units enroll {more} -o out.svg --json -q")[1])["drawn"]["zoos"][0]
        for more in ("", "--weights weight")
    ]
    assert len(zoos[0]["non_mean"]) == len(zoos[1]["non_mean"])
    assert zoos[0]["non_mean"] != zoos[1]["non_mean"]


def test_two_sets_are_two_evaluations(draw):
    found = json.loads(
        draw("dev-and-eval sysA.txt --key key.txt --dev sysB.txt --dev-key key.txt -o out.svg --json")[1]
    )
    alone = json.loads(draw("det sysB.txt --key key.txt -o out.svg --json")[1])
    assert found["dev"] == alone["systems"] != found["systems"]
    assert {one["role"] for one in found["files"]} == {"scores", "key", "dev", "dev-key", "output"}


@pytest.mark.usefixtures("pictures")
@pytest.mark.parametrize("command", [f"roc {SYSTEMS} key.txt", "fusion-weights fusion.json"])
def test_pictures_have_the_size_that_was_asked_for(draw, demo, command):
    assert draw(f"{command} -o out.svg --size 120mmx90mm")[0] == 0
    assert b'width="340.15748pt" height="255.11811pt"' in (demo / "out.svg").read_bytes()
