"""The commands on class scores, keys and options that do not fit: said, and nothing written."""

import re
import shlex
import shutil
from pathlib import Path

import numpy as np
import pytest

from deciban.calibration import AffineCalibrator, MulticlassCalibrator
from support.class_files import CLASSES, names, trials, write_table

pytestmark = pytest.mark.usefixtures("files")


BAD = {
    "label out of range": ("eval loglik.npy --key beyond.npy", "is of class '7'"),
    "label out of named classes": (
        "eval sysA.csv --key beyond.npy --classes cat,dog,eel --by-order",
        "has class 7, counted from 0, but 3 classes are named",
    ),
    "negative label": ("eval loglik.npy --key negative.npy", "negative.npy"),
    "labels without names": ("eval sysA.csv --key label.npy", "--classes NAME,NAME"),
    "unknown class": ("eval sysA.csv --key unknown.csv", "is of class 'fox'"),
    "class without a segment": ("eval sysA.csv --key lacking.csv", "class 'eel': no segment has this class"),
    "NaN": ("eval nan.csv --key key.csv", "NaN"),
    "NaN in a matrix": ("eval nan.npy --key label.npy", "NaN"),
    "all excluded": ("eval excluded.csv --key key.csv", "(seg000) has the score -inf for every class"),
    "other number of columns": ("eval ragged.csv --key key.csv", "ragged.csv:3: expected 4 columns"),
    "duplicate segment": ("eval twice.csv --key key.csv", "(seg000) occurs more than once"),
    "other names": ("eval strange.csv --key key.csv", "share no trial"),
    "no such column": ("eval sysA.csv --key key.csv --classes cat,dog,fox", "no scores for 'fox'"),
    "too few names": ("eval loglik.npy --key label.npy --classes cat,dog", "2 names, but"),
    "one name twice": ("eval sysA.csv --key key.csv --classes cat,cat", "two distinct names"),
    "other classes": ("eval sysA.csv other.csv --key key.csv", "scores other classes than"),
    "prior that is none": ("eval sysA.csv --key key.csv --prior 0.5,0.5", "Give one probability per class"),
    "prior of another sum": ("eval sysA.csv --key key.csv --prior 0.5,0.5,0.5", "sum to 1.5"),
    "prior of 0": ("eval sysA.csv --key key.csv --prior 0.5,0.5,0", "prior: class 2 ('eel') has prior 0"),
    "prior of others": ("eval sysA.csv --key key.csv --prior cat=0.5,fox=0.5", "prior: 'fox' is not a class"),
    "infinite share": ("eval sysA.csv --key key.csv --prior inf:1:1", "'inf:1:1': write flat"),
    "shares without a sum": ("eval sysA.csv --key key.csv --prior 1e308:1e308:1", "in finite numbers"),
    "infinite prior": ("eval sysA.csv --key key.csv --prior cat=inf,dog=0.5,eel=0.5", "in finite numbers"),
    "prior of NaN": ("eval sysA.csv --key key.csv --prior nan,0.5,0.5", "in finite numbers"),
    "prior of words": ("eval sysA.csv --key key.csv --prior high", "write flat"),
    "target prior": ("eval sysA.csv --key key.csv --p-target 1", "--p-target: "),
    "group without a name": ("eval sysA.csv --key key.csv --group cat,dog", "slavic=pol,rus"),
    "group twice": ("eval sysA.csv --key key.csv --group a=cat --group a=dog,eel", "'a' is given twice"),
    "groups without a class": ("eval sysA.csv --key key.csv --group a=cat --group b=dog", "('eel') is in no group"),
    "group of a name with a comma": (
        "eval commas.tsv --key commas.key --group 'a=dog,wild' --group b=cat,eel",
        "--group cannot contain the name 'dog,wild' with its comma: rename it, or use evaluate_groups in Python.",
    ),
    "subsets of an open set": ("eval sysA.csv --key key.csv --out-of-set 0.2 --subsets", "subsets: they need a closed"),
    "nothing for others": (
        "eval sysA.csv --key key.csv --out-of-set 0.2 --p-target 0.8",
        "--out-of-set: 0.2 and a target prior of 0.8 leave none for the other non-targets; target priors",
    ),
    "group of two classes": ("eval two.csv --group a=b", "--group is for multiclass scores"),
    "no key": ("eval sysA.csv", "does not contain the classes"),
    "two-class option": ("eval sysA.csv --key key.csv --dcf 0.1", "--dcf is for two-class scores"),
    "two-class labels": (
        "eval sysA.csv --key key.csv --labels target=cat,nontarget=dog",
        "--labels is for two-class scores",
    ),
    "class option": ("eval two.csv --classes a,b --kind two-class", "--classes is for multiclass scores"),
    "class option alone": ("eval two.csv --prior 0.5,0.5", "--prior is for multiclass scores"),
    "method of two classes": (
        "calibrate sysA.csv --key key.csv -o m.json --method elub",
        "unknown method 'elub' for multiclass scores",
    ),
    "rule of two classes": (
        "calibrate sysA.csv --key key.csv -o m.json --alpha 2",
        "the scores are multiclass (if not, use --kind two-class), and --alpha is for two-class scores.",
    ),
    "ridge of shift": (
        "calibrate sysA.csv --key key.csv -o m.json --method shift --ridge 1",
        "--ridge is no option of method shift for multiclass scores. Its options are --prior.",
    ),
    "prior by name": ("calibrate sysA.csv --key key.csv -o m.json --prior cat=1", "--classes NAME,NAME"),
    "separated": ("calibrate apart.csv --key key.csv -o m.json", "separated"),
    "quality": ("fuse sysA.csv sysB.csv --key key.csv -o f.json --quality q.txt", "--quality is for two-class scores"),
    "subsets of systems": ("fuse sysA.csv sysB.csv --key key.csv -o f.json --missing subset", "for two classes"),
    "one file twice": ("fuse sysA.csv sysA.csv --key key.csv -o f.json", "given twice"),
    "apply two-class option": ("apply model.json sysA.csv -o o.csv --labels target=a,nontarget=b", "--labels is for"),
    "apply to others": ("apply model.json other.csv -o o.csv", "the model was trained on 3 classes (cat, dog, eel)"),
    "apply to two classes": ("apply model.json two.csv -o o.csv", "two-class scores, but a model"),
    "two-class model": ("report sysA.csv --key key.csv --model two.json -o r.html", "is for two-class scores"),
    "output is input": ("calibrate sysA.csv --key key.csv -o key.csv", "is an input"),
    "page is input": ("report sysA.csv --key key.csv -o sysA.csv", "is an input"),
    "folds of pairs": ("calibrate sysA.csv --key key.csv -o m.json --cross-validate trial,trial", "two columns"),
}


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    """A folder with models of many classes and of two, which no case changes."""
    folder = tmp_path_factory.mktemp("models")
    MulticlassCalibrator().fit(*trials(), classes=CLASSES).save(folder / "model.json")
    AffineCalibrator(ridge=1.0).fit([2.0, 1.0, 0.0, 0.5], [True, False, False, True]).save(folder / "two.json")
    return folder


@pytest.mark.parametrize("case", BAD)
def test_bad_input_exits_with_2_and_writes_nothing(case, files, models, run):
    loglik, label = files
    shutil.copytree(models, ".", dirs_exist_ok=True)
    Path("two.csv").write_text("trial,score,label\na,2,target\nb,1,nontarget\nc,0,nontarget\nd,0.5,target\n")
    np.save("beyond.npy", np.where(np.arange(90) == 4, 7, label))
    np.save("negative.npy", label - 1)
    np.save("nan.npy", np.where(np.arange(90)[:, None] == 4, np.nan, loglik))
    write_table("nan.csv", np.where(np.arange(90)[:, None] == 4, np.nan, loglik))
    write_table("excluded.csv", np.where(np.arange(90)[:, None] == 0, -np.inf, loglik))
    write_table("twice.csv", loglik[[0, *range(90)]], called=["seg000", *names(90)])
    write_table("strange.csv", loglik, called=[f"other{i}" for i in range(90)])
    write_table("other.csv", loglik, header=("cat", "dog", "fox"))
    write_table("apart.csv", np.eye(3)[label] * 5 + loglik * 0.01)
    write_table("commas.tsv", loglik, header=("cat", "dog,wild", "eel"), delimiter="\t")
    Path("commas.key").write_text(Path("lre.key").read_text().replace("dog", "dog,wild"))
    lines = Path("sysA.csv").read_text().splitlines()
    Path("ragged.csv").write_text("\n".join([*lines[:2], "seg001,1.0,2.0", *lines[3:]]))
    key = Path("key.csv").read_text()
    Path("unknown.csv").write_text(key.replace("seg004,dog", "seg004,fox"))
    Path("lacking.csv").write_text(re.sub(r"seg\d+,eel\n", "", key))
    before = {path: path.read_bytes() for path in Path().rglob("*") if path.is_file()}
    words, message = BAD[case]
    code, out, err = run(*shlex.split(words))
    assert code == 2, err
    assert message in " ".join(err.split())
    assert "Traceback" not in err
    assert out == ""
    assert {path: path.read_bytes() for path in Path().rglob("*") if path.is_file()} == before
