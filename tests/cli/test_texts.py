"""Texts that count one thing as one, and speak of what was typed."""

import re
from pathlib import Path

import click
import numpy as np
import pytest

import deciban
from deciban import InputError
from deciban.cli.main import COMMANDS, _deciban


@pytest.fixture(autouse=True)
def lists(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("key.txt").write_text("m a target\nm b nontarget\n")
    Path("scores.txt").write_text("m a 1\nm b 0\n")
    Path("one.txt").write_text("m a 1\n")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("--dcf 0", "--dcf: p_target: a prior must be inside (0, 1), got 0."),
        ("--dcf 0.1 --dcf 2:1:1", "--dcf: p_target: a prior must be inside (0, 1), got 2."),
        ("--dcf 0.5:-1:1", "--dcf: c_miss: got -1.0."),
    ],
)
def test_an_operating_point_that_is_none(run, words, message):
    code, out, err = run(f"eval scores.txt --key key.txt {words}")
    assert (code, out) == (2, "")
    assert message in err


def test_one_trial(run):
    code, _, err = run("eval one.txt --key key.txt --missing fill=0")
    assert code == 0
    assert "   1 trial\n" in err
    assert "2 trials" not in err.splitlines()[0]


def test_a_group_of_classes_that_are_not_there(run):
    Path("classes.csv").write_text("trial,eng,fra,class\na,1,0,eng\nb,0,1,fra\n")
    code, _, err = run("eval classes.csv --group a=eng,zzz")
    assert code == 2
    assert "'zzz'" in err
    code, _, err = run("eval classes.csv --group a=eng,fra")
    assert code == 2
    assert "At least two groups are needed" in err


def test_a_header_that_is_no_header(run):
    header = "{'descr': '<f8', 'fortran_order': False, 'shape': (f(3),), }".ljust(117) + "\n"
    Path("bad.npy").write_bytes(b"\x93NUMPY\x01\x00" + bytes([len(header), 0]) + header.encode() + bytes(24))
    code, _, err = run("inspect bad.npy")
    assert code == 2
    assert "damaged" in err
    assert "0x" not in err


@pytest.mark.parametrize("values", [[1.0, np.nan], [np.nan]])
def test_arrays_know_no_key(values):
    with pytest.raises(InputError, match=r"NaN is not: leave these trials out, or repair the scores\.") as caught:
        deciban.evaluate(values, [0.0])
    assert "key" not in str(caught.value)


def test_each_command_that_a_text_names_exists_and_has_its_options():
    """Texts of messages, help, templates and scripts: in parentheses, in backticks, or with an option behind it."""
    context = click.Context(_deciban)
    parameters = {name: _deciban.get_command(context, name).params for name in COMMANDS}
    options = {
        name: {"--help", "--help-all", *(word for one in found for word in one.opts)}
        for name, found in parameters.items()
    }
    named = re.compile(r"(?:[(`]+deciban ([a-z]+)\b([^\n`)]*)|\bdeciban ([a-z]+)(?= [^\n`)]*--?[a-z])([^\n`)\"]*))")
    n_found, wrong = 0, []
    for path in sorted(Path(deciban.__file__).parent.rglob("*")):
        if path.suffix not in {".py", ".toml", ".html", ".js", ".json"}:
            continue
        for match in named.finditer(path.read_text()):
            name, rest = match[1] or match[3], match[2] or match[4] or ""
            used = set(re.findall(r"(?<!\S)--?[a-z][-a-z0-9]*", rest))
            n_found += 1
            if name not in options or not used <= options[name]:
                wrong.append(f"{path.name}: {match[0]}")
    assert n_found > 20
    assert wrong == []
