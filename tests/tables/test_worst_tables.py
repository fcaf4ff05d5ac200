"""The table of the most misleading trials."""

import json

import pytest

from support.both_kinds import MADE


@pytest.mark.parametrize("name", list(MADE))
def test_the_command_lists_them(tmp_path, run, name):
    both = MADE[name](tmp_path)
    given = ["eval", *both.paths, "--key", both.key, "--worst", "2", "-q"]
    shown = run(*given)[1]
    assert "most misleading trials of a" in shown
    what = "llr" if name == "two-class" else "llr of the class against the others"
    assert f"\n{what} in nats, cost in bits" in shown
    assert ("taken for" in shown) == (name == "classes")
    systems = json.loads(run(*given, "--json")[1])["systems"]
    assert [len(one["worst_trials"]) for one in systems] == ([4, 4] if name == "two-class" else [2, 2])
    assert systems[0]["worst_trials"][0]["names"]["trial"] in shown
