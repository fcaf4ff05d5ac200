"""A browser for the tests of this folder, and pages to open in it."""

import importlib.resources
import os
import shutil

import numpy as np
import pytest

from deciban.evaluation import Results, evaluate
from deciban.report import render

KNOWN = ("chromium-headless-shell", "chromium", "chromium-browser")  # the first has no windows, and takes half the time
BROWSER = os.environ.get("DECIBAN_BROWSER") or next(filter(None, map(shutil.which, KNOWN)), None)
POINTS = [0.01, (0.01, 10, 1)]


@pytest.fixture(scope="package")
def browser():
    """One headless browser for all tests; it ends with them, as its loop is in the way of others."""
    playwright = pytest.importorskip(
        "playwright.sync_api", reason="playwright, which drives browsers, is not installed"
    )
    if BROWSER is None:
        pytest.skip("no browser: apt-get install chromium-headless-shell on Debian; DECIBAN_BROWSER names another one")
    with playwright.sync_playwright() as tool:
        opened = tool.chromium.launch(executable_path=BROWSER, args=["--no-sandbox", "--disable-gpu"])
        yield opened
        opened.close()


def trials(n, seed=1):
    """Scores of targets and of non-targets of systems, the later the better, and the units that they share."""
    rng = np.random.default_rng(seed)
    units = {"tar_units": rng.integers(0, 40, 300), "non_units": rng.integers(0, 40, (3000, 2))}
    noise = rng.normal(0, 1.6, 3300)
    made = []
    for k in range(n):
        d = 1.3 + 0.3 * k
        own = noise + rng.normal(0, 0.7, 3300)
        made.append((d * (own[:300] + d), d * (own[300:] - d)))
    return made, units


def systems(n, *, names="system {}", seed=1):
    """Systems on the same trials, with units."""
    made, units = trials(n, seed)
    return tuple(
        evaluate(tar, non, name=names.format(k), operating_points=POINTS, **units) for k, (tar, non) in enumerate(made)
    )


def written(path, some, **how):
    """The file of a page of systems."""
    return written_results(path, Results(some), **how)


def written_results(path, results, **how):
    """The same of results."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("deciban.report.cards.MOST_PAIRED", 3)  # 45 pairs of ten systems take seconds
        path.write_text(render(results, **how), "utf-8")
    return path


@pytest.fixture(scope="package")
def three():
    return systems(3)


@pytest.fixture(scope="package")
def of_three(three, tmp_path_factory):
    """The file of a page of three systems."""
    return written(tmp_path_factory.mktemp("pages") / "three.html", three, title="Three")


@pytest.fixture(scope="package")
def of_five(tmp_path_factory):
    """The file of a page of five systems, which count as many; names have 300 characters and would do harm as tags."""
    names = "<img src=x onerror=alert(1)>{}" + "x" * 120 + " " + "y" * 149
    return written(tmp_path_factory.mktemp("pages") / "five.html", systems(5, names=names))


@pytest.fixture
def visit(browser):
    """Open a page; afterwards nothing may have gone wrong in it, and nothing been asked of the network."""
    contexts, faults = [], []

    def opened(path, link="", *, width=1280, **how):
        context = browser.new_context(viewport={"width": width, "height": 900}, **how)
        contexts.append(context)
        tab = context.new_page()
        tab.on("console", lambda said: faults.append(said.text) if said.type in ("error", "warning") else None)
        tab.on("pageerror", lambda error: faults.append(str(error)))
        tab.on("request", lambda one: None if one.url.startswith(("file:", "data:")) else faults.append(one.url))
        tab.goto(f"file://{path}{link}")
        if how.get("java_script_enabled", True):
            tab.wait_for_function("!document.getElementById('page-data') || document.documentElement.dataset.live")
        return tab

    yield opened
    for context in contexts:
        context.close()
    assert not faults


@pytest.fixture
def faults_of_access():
    """A function that returns faults of accessibility of an open page: rule, impact and the first elements."""
    axe = pytest.importorskip("axe_playwright_python", reason="axe_playwright_python, which holds axe-core, is missing")
    script = importlib.resources.files(axe).joinpath("axe.min.js").read_text("utf-8")

    def found(page):
        page.evaluate(script)
        return page.evaluate(  # to describe the elements without a fault takes half of the time
            "async () => (await axe.run({resultTypes: ['violations']})).violations"
            ".map(one => [one.id, one.impact, one.nodes.slice(0, 3).map(node => node.html)])"
        )

    return found
