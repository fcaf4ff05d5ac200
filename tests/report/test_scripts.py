"""Scripts of a page: what they are, and that nothing else may run."""

import hashlib
import re
import shutil
import subprocess
from pathlib import Path

import pytest

import deciban.report
from deciban.report.scripts import chart_style, policy, scripts, scripts_for

FOLDER = Path(deciban.report.__file__).parent


def test_the_charting_library_has_its_licence_and_its_checksums():
    vendored = FOLDER / "vendor" / "uplot"
    lines = (vendored / "SHA256SUMS").read_text().splitlines()
    assert {line.split()[1] for line in lines} == {"uPlot.iife.min.js", "uPlot.min.css", "LICENSE"}
    for line in lines:
        digest, name = line.split()
        assert hashlib.sha256((vendored / name).read_bytes()).hexdigest() == digest
    version = (vendored / "VERSION").read_text().strip()
    assert f"(v{version})" in scripts()[0].text[:100]
    assert "MIT License" in (vendored / "LICENSE").read_text()


def test_scripts_are_small_end_no_element_and_ask_nothing_of_the_network():
    assert sum(len(one.text) for one in scripts()) < 205_000
    assert {one.name for one in scripts()[1:]} == {path.name for path in (FOLDER / "live_scripts").glob("*.js")}
    for one in scripts():
        assert not re.search(r"</script|<!--", one.text, re.IGNORECASE)
        assert not re.search(r"\bfetch\(|XMLHttpRequest|WebSocket|\beval\(|new Function|innerHTML|import\(", one.text)
    assert "url(" not in chart_style()


def test_the_policy_names_these_scripts_alone():
    allowed = re.search(r"script-src ([^;]*)", policy(scripts()))[1].split()
    assert allowed == [one.source for one in scripts()]
    assert "script-src" not in policy(())
    assert "default-src 'none'" in policy(scripts())


def test_pages_without_data_have_the_scripts_of_tables_alone():
    assert [one.name for one in scripts_for(None)] == ["tables.js", "tools.js"]


@pytest.mark.skipif(shutil.which("node") is None, reason="node, which checks the syntax of scripts, is not here")
def test_our_scripts_are_javascript():
    text = "\n".join(one.text for one in scripts()[1:])  # they share their names, as in a page
    found = subprocess.run(["node", "--check", "-"], input=text, text=True, capture_output=True, check=False)
    assert found.returncode == 0, found.stderr
