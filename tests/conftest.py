"""Settings of all tests: hypothesis profiles, what keeps a run short, and where real score sets may lie."""

import gc
import os
import subprocess
import sys
from pathlib import Path

import pytest
from _pytest.doctest import DoctestModule
from hypothesis import HealthCheck, Phase, settings

from support.sketches import sketch

settings.register_profile("quick", max_examples=7, deadline=None, derandomize=True)
settings.register_profile(  # of scripts/mutants: the first input that fails is enough
    "mutants", settings.get_profile("quick"), max_examples=15, phases=[Phase.explicit, Phase.generate]
)
settings.register_profile(
    "thorough",
    max_examples=2000,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
settings.register_profile(
    "fuzz",
    max_examples=int(os.environ.get("FUZZ_EXAMPLES", "100000")),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    database=None,
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "quick"))

# For workers of pytest-xdist and all processes that tests start: each has a core, where threads of linear algebra that
# wait for each other in small matrices took a quarter of the time.
for library in ("OPENBLAS", "OMP", "MKL"):
    os.environ.setdefault(f"{library}_NUM_THREADS", "1")

collect_ignore = ["fuzz/coverage_guided.py"]  # needs the extra `fuzz`, and is no test

DATA = Path(os.environ.get("DECIBAN_DATA", Path(__file__).parents[2] / "shared" / "data"))


def pytest_make_parametrize_id(val, argname):
    """Bytes are no name of a test: compressed ones hold the second of their making, which differs between workers."""
    return argname if isinstance(val, bytes) else None


def pytest_collection_finish():
    """Tests and modules, which stay to the end, are not searched for garbage again and again."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 50)


@pytest.hookimpl(wrapper=True)
def pytest_collect_file():
    """Tests have no examples in their docstrings, and to look for them takes a second."""
    return [one for one in (yield) if not isinstance(one, DoctestModule)]


@pytest.fixture(autouse=True)
def _no_window(monkeypatch):
    """Tables are as wide as they are, though workers of pytest-xdist are told that a window has 80 columns."""
    monkeypatch.delenv("COLUMNS", raising=False)


@pytest.fixture
def run_binary(monkeypatch, capsysbinary):
    """Runs a command; what it prints comes as bytes."""
    from support.commands import terminal

    return terminal(monkeypatch, capsysbinary)


@pytest.fixture
def run(run_binary):
    """Runs a command; what it prints comes as text."""

    def runner(*words, stdin=None):
        code, out, err = run_binary(*words, stdin=stdin)
        return code, out.decode(), err

    return runner


@pytest.fixture(scope="session")
def real_data():
    """Folder with real score sets, which are not part of the repository."""
    if not DATA.is_dir():
        pytest.skip(
            f"no real score sets at {DATA}: they may not be shipped; set DECIBAN_DATA to a folder that has them"
        )
    return DATA


@pytest.fixture(scope="module", autouse=True)
def _sketched(request):
    """Plots are drawn as ever, but not laid out and written, which takes most of the time of a page: see `pictures`.

    Not so in folders that are about pictures, in modules that say so, and in doctests.
    """
    place = request.node.path.relative_to(request.config.rootpath).parts
    if place[0] != "tests" or {"plots", "examples"} & {*place} or hasattr(request.module, "WHOLE_PICTURES"):
        yield
        return
    from deciban.plots import files

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(files, "_whole", files._bytes, raising=False)
        patch.setattr(files, "_bytes", sketch)
        yield


@pytest.fixture
def pictures(monkeypatch):
    """Pictures are laid out and written: for single tests that look at them."""
    from deciban.plots import files

    monkeypatch.setattr(files, "_bytes", files._whole)


@pytest.fixture(scope="session")
def _empty_axes():
    from matplotlib.figure import Figure

    return Figure().add_subplot()


@pytest.fixture
def sketches(monkeypatch, _empty_axes):
    """Plots are not even drawn: for tests of the words of a page."""
    from deciban import plots

    for kind in {*plots.KINDS, *plots.CLASS_KINDS, *plots.COMPARISON_KINDS} - {"class_ape"}:  # whose width words go by
        monkeypatch.setattr(plots, kind, lambda *_, **__: _empty_axes)


@pytest.fixture
def sandwich(monkeypatch):
    """Leave no unit out where models find their standard errors, as if there were more than 1000."""
    from deciban.core.training import influences as jackknife

    monkeypatch.setattr(jackknife, "MOST_UNITS", 0)


@pytest.fixture(scope="session")
def _matlab_server():
    from support import warm_matlab

    command = [sys.executable, warm_matlab.__file__]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
        yield server


@pytest.fixture
def matlab_runner(_matlab_server, tmp_path_factory):
    """Runs programs in forks of one process that has imported scipy and h5py, as `subprocess` does in new processes."""
    from support import warm_matlab

    return warm_matlab.runner(_matlab_server, tmp_path_factory.getbasetemp())


@pytest.fixture
def warm_matlab(request, monkeypatch):
    """Files of MATLAB are read by forks of one process, instead of one that starts for each file."""
    if not hasattr(os, "fork"):
        return
    from deciban.io.formats import hdf5_and_matlab

    monkeypatch.setattr(hdf5_and_matlab, "subprocess", request.getfixturevalue("matlab_runner"))
