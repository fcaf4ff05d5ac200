"""Every plot of deciban.plots on synthetic scores, and a page that shows it beside the lines that draw it.

    python examples/gallery.py -o gallery/

Writes a picture for each plot and ``gallery.md`` that shows them. The lines on the page are those of the functions
below, which are what is run. Speaker recognition: 60 speakers with their own ease and 5 segments each, against others.
Language recognition: segments of three languages are points on a plane.
"""

from __future__ import annotations

import argparse
import inspect
import textwrap
from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

import deciban
from deciban import plots
from deciban.calibration import AffineCalibrator, PavCalibrator, rule_weighting

LANGUAGES = ("English", "Hindi", "Korean")
SYSTEMS = {"A": {"distance": 1.5, "scale": 2.4}, "B": {"distance": 2.2, "scale": 1.7}}


class Data:
    """What is drawn; each is made when it is first asked for.

    Parameters
    ----------
    n : int
        Speakers, and a quarter of the segments of each language.
    """

    def __init__(self, n: int) -> None:
        self.n = n

    def trials(self, seed: int, distance: float, scale: float) -> dict[str, np.ndarray]:
        """Scores of targets and of three times as many non-targets, their speakers, and the channel of each trial."""
        rng = np.random.default_rng(seed)
        speaker = np.repeat(np.arange(self.n), 5)
        noise = 1.4 * rng.normal(size=(4, len(speaker)))
        ease = 0.7 * rng.normal(size=self.n)[speaker]
        channel = np.where(rng.random(noise.shape) < 0.4, "phone", "mic")
        scores = noise + np.where(np.arange(4)[:, None] == 0, distance + ease, -distance - ease)
        scores = scale * np.where(channel == "phone", 0.7 * scores, scores)
        return {"scores": scores, "channel": channel, "speaker": np.broadcast_to(speaker, noise.shape)}

    def evaluated(self, name: str, **given: Any) -> deciban.Evaluation:
        """A system with intervals by speaker."""
        trials = self.trials(**given)
        (tar, non), (who, others) = ((own[0], own[1:].ravel()) for own in (trials["scores"], trials["speaker"]))
        return deciban.evaluate(tar, non, tar_units=who, non_units=others, name=name, operating_points=[0.01, 0.5])

    @cached_property
    def systems(self) -> list[deciban.Evaluation]:
        """Two systems; the scores of the first are twice as large as they should be."""
        return [self.evaluated("A", seed=1, **SYSTEMS["A"]), self.evaluated("B", seed=1, **SYSTEMS["B"])]

    @cached_property
    def frame(self) -> dict[str, Any]:
        """The trials of both systems as a table."""
        parts = {name: self.trials(seed=1, **how) for name, how in SYSTEMS.items()}
        is_target = np.broadcast_to(np.arange(4)[:, None] == 0, parts["A"]["scores"].shape)
        shared = {name: parts["A"][name].ravel() for name in ("channel", "speaker")}
        scores = {name: one["scores"].ravel() for name, one in parts.items()}
        return {**scores, "is_target": is_target.ravel(), **shared}

    @cached_property
    def segments(self) -> tuple[np.ndarray, np.ndarray]:
        """Log-likelihoods of three languages, twice as certain as they should be, and the true ones."""
        rng = np.random.default_rng(3)
        means = np.array([[0.0, 0.0], [1.4, 0.5], [-1.2, 1.6]])
        label = np.repeat(np.arange(3), 4 * self.n)
        points = means[label] + rng.normal(size=(len(label), 2))
        return -((points[:, None] - means) ** 2).sum(axis=2), label

    @cached_property
    def languages(self) -> deciban.ClassEvaluation:
        """A language recognizer."""
        return deciban.evaluate_classes(*self.segments, classes=LANGUAGES, name="languages")


Example = Callable[[Data], Any]
OWN: dict[str, Example] = {}
"""Plots of something else than systems: by name, what draws an example."""


def example(function: Example) -> Example:
    """The example of the plot that it is called by."""
    OWN[function.__name__] = function
    return function


@example
def forest(data: Data) -> Any:
    """Differences of figures."""
    comparison = deciban.compare(data.frame, score=["A", "B"], label="is_target", units="speaker")
    return plots.forest(comparison)


@example
def difference_curve(data: Data) -> Any:
    """Differences over all priors."""
    comparison = deciban.compare(data.frame, score=["A", "B"], label="is_target", units="speaker")
    return plots.difference_curve(comparison)


@example
def by_condition(data: Data) -> Any:
    """One figure of each condition."""
    results = deciban.evaluate(data.frame, score=["A", "B"], label="is_target", by="channel", units="speaker")
    return plots.by_condition(results, figure="eer")


@example
def plan(data: Data) -> Any:
    """How many speakers it takes."""
    trials = data.trials(seed=1, **SYSTEMS["A"])
    tar, non = trials["scores"][:2]
    speaker = trials["speaker"][0]
    return plots.plan(deciban.plan(tar, non, tar_units=speaker, non_units=speaker, width=0.05))


@example
def omega(_data: Data) -> Any:
    """What training cares for."""
    rules = (1.0, 1.0), (2.0, 2.0), (0.5, 0.5)  # logarithmic, Brier, boosting
    weightings = [rule_weighting(alpha=a, beta=b, p_target=0.05, operating_points=[0.05]) for a, b in rules]
    return plots.omega(weightings)


@example
def calibration_map(data: Data) -> Any:
    """Two calibrators on the same scores."""
    scores, is_target = data.frame["A"], data.frame["is_target"]
    calibrators = {"affine": AffineCalibrator(), "PAV": PavCalibrator()}
    for one in calibrators.values():
        one.fit(scores, is_target)
    return plots.calibration_map(data.systems[0], calibrators)


def names_of_plots() -> list[str]:
    """All plots, those of pages first."""
    known = (*plots.KINDS, *plots.TEACHING_KINDS, *plots.CLASS_KINDS, *plots.COMPARISON_KINDS, *OWN)
    return list(dict.fromkeys(known))


def drawing_of(name: str, data: Data) -> tuple[Any, str]:
    """A picture, and the lines that draw it."""
    if name in OWN:
        body = inspect.getsource(OWN[name]).partition('"""\n')[2]
        return OWN[name](data), textwrap.dedent(body).replace("return ", "").strip()
    many = name in plots.CLASS_KINDS and name not in plots.KINDS
    drawn: Any = data.languages if many else data.systems
    return getattr(plots, name)(drawn), f"plots.{name}({'languages' if many else 'systems'})"


def commands_of(name: str) -> str:
    """The line of the shell that draws it from files, where there is one."""
    many = name in plots.CLASS_KINDS and name not in plots.KINDS
    if name not in {*plots.KINDS, *plots.TEACHING_KINDS, *plots.CLASS_KINDS}:
        return ""
    scores = "languages.tsv --key languages.key" if many else "sysA.txt sysB.txt --key key.txt"
    return f"deciban plot {name.replace('_', '-')} {scores} -o {name.replace('_', '-')}.pdf"


def main(arguments: Sequence[str] | None = None) -> None:
    """Draw all plots into a folder, and write the page."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("-o", "--output", type=Path, required=True, metavar="FOLDER")
    parser.add_argument("--n", type=int, default=60, help="speakers (60)")
    options = parser.parse_args(arguments)
    options.output.mkdir(parents=True, exist_ok=True)
    data, page = Data(options.n), ["# Gallery of plots", ""]
    for name in names_of_plots():
        drawing, lines = drawing_of(name, data)
        file = options.output / f"{name.replace('_', '-')}.svg"
        plots.save(drawing, file, "svg")
        words = (inspect.getdoc(getattr(plots, name)) or "").partition("\n\n")[0].replace("\n", " ")
        page += [f"## {name.replace('_', '-')}", "", words, "", f"![{words}]({file.name})", ""]
        page += ["```python", lines, "```", "", *([f"```bash\n{one}\n```", ""] if (one := commands_of(name)) else [])]
    (options.output / "gallery.md").write_text("\n".join(page))
    print(f"wrote {len(names_of_plots())} pictures and gallery.md into {options.output}")


if __name__ == "__main__":
    main()
