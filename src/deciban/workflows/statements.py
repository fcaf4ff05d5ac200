"""Statements on likelihood ratios in words: verbal scales as data, bounds of a model, and the data behind it."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from itertools import pairwise
from typing import Any, get_args

from deciban._files import read_short_text, toml_of
from deciban._validate.arrays import one_of
from deciban.errors import FormatError, InputError, display_name
from deciban.evaluation.one_system import Jsonable, plain
from deciban.models import Model, load_model
from deciban.models.model import content_of
from deciban.types import PathLike, ScoreUnit

_ROUNDING = 1e-7
"""Share of a step by which an LR may be below it."""

_REMARKS = {"unverified": " (wording not checked against the original: compare before use)", "verified": ""}
"""Remarks on the source of a scale by its status; other statuses are printed."""

_KEYS = {"title", "source", "status", "steps", "sentence", "neutral"}
_PLACES = ("{expression}", "{stronger}", "{weaker}")


@dataclass(frozen=True, slots=True)
class VerbalScale:
    """Expressions for ranges of likelihood ratios.

    Attributes
    ----------
    name, title, source : str
    status : str
        ``"verified"`` if the scale was compared with its source.
    steps : tuple of (float, str)
        The lowest LR of each expression, ascending, at least 1.
    sentence, neutral : str
        Sentence with places for the expression and the propositions; sentence for an LR below the first step.
    """

    name: str
    title: str
    source: str
    status: str
    steps: tuple[tuple[float, str], ...]
    sentence: str
    neutral: str

    def words(self, llr: float, propositions: Sequence[str]) -> tuple[str, str, tuple[float, float]]:
        """Return the expression, the sentence, and the range of LRs in the direction of the supported proposition."""
        lr, place = math.exp(min(abs(llr), 700.0)), -1
        for k, (least, _) in enumerate(self.steps):
            place = k if lr >= least * (1.0 - _ROUNDING) else place
        high = self.steps[place + 1][0] if place + 1 < len(self.steps) else math.inf
        if llr == 0.0 or (place < 0 and self.steps[0][0] <= 1.0):
            return "", self.neutral, (1.0, self.steps[0][0])
        if place < 0:
            end = f"{self.steps[0][0]:,.6g}"
            words = f"The scale has no words for likelihood ratios between 1/{end} and {end}."
            return "", words, (1.0, self.steps[0][0])
        stronger, weaker = propositions if llr > 0.0 else propositions[::-1]
        expression = self.steps[place][1]
        sentence = self.sentence.format(expression=expression, stronger=stronger, weaker=weaker)
        return expression, sentence, (self.steps[place][0], high)


def verbal_scales() -> dict[str, VerbalScale]:
    """Return the verbal scales of deciban, by name.

    Returns
    -------
    dict of str to VerbalScale

    Examples
    --------
    >>> list(verbal_scales())
    ['enfsi2015', 'afsp2009']
    """
    text = resources.files(__package__).joinpath("verbal_scales.toml").read_text("utf-8")
    return {name: _scale(name, row, f"scale {name}") for name, row in tomllib.loads(text).items()}


def verbal_scale(name: PathLike) -> VerbalScale:
    """Return a verbal scale by its name, or from a TOML file with one table, as in ``verbal_scales.toml``.

    Raises
    ------
    InputError
        If the name is unknown.
    FormatError, OSError
        If the file contains no scale, or cannot be read.
    """
    if str(name).casefold().endswith(".toml"):
        tables = toml_of(read_short_text(name), display_name(name), "A scale is a table in TOML.")
        if len(tables) != 1 or not isinstance(next(iter(tables.values())), dict):
            raise FormatError(f"{display_name(name)}: must contain one table, the scale: [name].")
        ((own, row),) = tables.items()
        return _scale(own, row, display_name(name))
    known = verbal_scales()
    if str(name) not in known:
        raise InputError(f"scale: {str(name)!r} is not known. Use one of {', '.join(known)}, or name a .toml file.")
    return known[str(name)]


def _scale(name: str, row: Mapping[str, Any], where: str) -> VerbalScale:
    """Return a scale after checking it.

    Raises
    ------
    FormatError
    """
    texts: dict[str, Any] = {key: row.get(key) for key in _KEYS - {"steps"}}
    if set(row) != _KEYS or not all(isinstance(one, str) and one for one in texts.values()):
        raise FormatError(f"{where}: a scale has the keys {', '.join(sorted(_KEYS))}; all but steps are text.")
    steps = row["steps"]
    are_steps = isinstance(steps, list) and all(
        isinstance(one, list)
        and len(one) == 2
        and isinstance(one[0], int | float)
        and not isinstance(one[0], bool)
        and 1.0 <= one[0] < math.inf
        and isinstance(one[1], str)
        and one[1].strip()
        for one in steps
    )
    if not are_steps or not steps or any(a[0] >= b[0] for a, b in pairwise(steps)):
        raise FormatError(
            f'{where}: steps: pairs of the lowest LR and an expression, ascending from 1: [[10, "moderate"]].'
        )
    if any(place not in row["sentence"] for place in _PLACES) or any(
        row["sentence"].count(sign) != len(_PLACES) for sign in "{}"
    ):
        raise FormatError(f"{where}: sentence: must contain {', '.join(_PLACES)}, each once.")
    return VerbalScale(name, steps=tuple((float(least), word) for least, word in steps), **texts)


_CASE = ("case", "examiner", "questioned", "known", "conditions", "population", "sources")
"""What a case file must state; only sources, the number of sources of the relevant data, is a number."""


def read_case(path: PathLike) -> dict[str, str | int]:
    """Read what the examiner states about a case from a TOML file.

    Raises
    ------
    FormatError, OSError
        If the file is not TOML, lacks an entry, or has an unknown or empty one.
    """
    name = display_name(path)
    rows = toml_of(read_short_text(path), name, 'A case file has lines such as case = "2026-17".')
    lacking = [key for key in _CASE if not str(rows.get(key, "")).strip()]
    if lacking:
        entries = f"the entry {lacking[0]!r} is" if len(lacking) == 1 else f"the entries {', '.join(lacking)} are"
        odd = "".join(f" ({key!r} is not an entry)" for key in rows if key not in (*_CASE, "remarks"))
        raise FormatError(
            f"{name}: {entries} missing or empty{odd}. A case file has {', '.join(_CASE)}, and optionally remarks."
        )
    for key, value in rows.items():
        if key not in (*_CASE, "remarks"):
            raise FormatError(f"{name}: {key}: unknown. A case file has {', '.join(_CASE)}, and optionally remarks.")
        rule = "a whole number from 1" if key == "sources" else "a text"
        is_number = isinstance(value, int) and not isinstance(value, bool) and value > 0
        if not (is_number if key == "sources" else isinstance(value, str)):
            raise FormatError(f"{name}: {key} = {value!r:.60}: must be {rule}.")
    return rows


@dataclass(frozen=True, slots=True)
class Statement(Jsonable):
    """A likelihood ratio in numbers and words.

    Attributes
    ----------
    llr : float
        In nats, limited to the bounds of the model.
    typed : float
        Before the limits.
    propositions : (str, str)
        The proposition that large llrs support, and the alternative.
    interval : (float, float) or None
        Bounds of the llr that the user stated.
    scale : VerbalScale or None
    limits : (float, float) or None
        Bounds of the llr in the model, if it has some.
    model : mapping of str to value, or None
        Kind, numbers of trials of training, systems, fingerprint of the data, and version.
    case : mapping of str to value, or None
        What the examiner states about the case.
    """

    llr: float
    typed: float
    propositions: tuple[str, str]
    interval: tuple[float, float] | None = None
    scale: VerbalScale | None = None
    limits: tuple[float, float] | None = None
    model: Mapping[str, Any] | None = None
    case: Mapping[str, str | int] | None = None

    @property
    def _borders(self) -> list[float]:
        return [] if self.scale is None else [least for least, _ in self.scale.steps]

    @property
    def sentence(self) -> str:
        """The statement in numbers.

        Examples
        --------
        >>> statement(5.8, propositions=("same speaker", "different speakers")).sentence
        "The findings are about 330 times more probable if 'same speaker' is true than if 'different speakers' is true."
        """
        if self.llr == 0.0:
            return "The findings are equally probable under both propositions."
        stronger, weaker = self.propositions if self.llr > 0.0 else self.propositions[::-1]
        times = _about(abs(self.llr), self._borders)
        if times == "1":
            return "The findings are about equally probable under both propositions."
        return f"The findings are about {times} times more probable if '{stronger}' is true than if '{weaker}' is true."

    @property
    def rows(self) -> list[tuple[str, str]]:
        """Names and texts of all parts, for a table."""
        items = [(name, f"{value:,}" if isinstance(value, int) else value) for name, value in (self.case or {}).items()]
        items.append(("propositions", f"'{self.propositions[0]}' against '{self.propositions[1]}'"))
        lr = _lr(self.llr, self._borders)
        items.append(("likelihood ratio", f"{lr}; log10 LR {_log10(self.llr)}; llr {self.llr:.4g} nats"))
        items.append(("statement", self.sentence))
        if self.scale is not None:
            expression, sentence, (low, high) = self.scale.words(self.llr, self.propositions)
            ends = f"LR {low:,.12g} and above" if math.isinf(high) else f"LR {low:,.12g} to {high:,.12g}"
            ends += f", for '{self.propositions[1]}'" if self.llr < 0.0 else ""
            items += [("in words", sentence), ("scale", f"{self.scale.title}, {expression or 'no words'}: {ends}")]
            remark = _REMARKS.get(self.scale.status, f" (status: {self.scale.status})")
            items.append(("source of scale", self.scale.source + remark))
        if self.interval is not None:
            low, high = self.interval
            is_cut = self.limits is not None and (low <= self.limits[0] or high >= self.limits[1])
            cut = "; cut at the bounds of the model" if is_cut else ""
            cut += "; it includes support for the other proposition" if low < 0.0 < high else ""
            items.append(("interval", f"LR {_lr(low)} to {_lr(high)}; {_on_both(low, high)}{cut}"))
        if self.model is not None:
            items += self._about_model()
        meaning = "the LR is about the findings, given each proposition, not about the probability of a proposition"
        return [*items, ("meaning", meaning)]

    def _about_model(self) -> list[tuple[str, str]]:
        about = self.model or {}
        items = [("limits", "none: the model can state LRs larger than its training data support")]
        if self.limits is not None:
            low, high = self.limits
            words = f"the model gives no LR below {_lr(low)} or above {_lr(high)} ({_on_both(low, high)})"
            if self.typed != self.llr:
                words += f"; log10 LR {_log10(self.typed)} was reduced to {_log10(self.llr)}"
            items = [("limits", words)]
        counts = " and ".join(f"{n:,} {name}" for name, n in about["trained_on"].items())
        data = f"{counts or 'unknown numbers of'} trials"
        data += f" of {', '.join(map(repr, about['systems']))}" if about["systems"] else ""
        items.append(("model", f"{about['kind']}, trained on {data}"))
        words = f"training data identified by hash {about['fingerprint']}"
        items.append(("fingerprint", f"{words}; model trained with deciban {about['deciban_version']}"))
        return items

    def to_dict(self) -> dict[str, Any]:
        """Return the statement as plain JSON types."""
        verbal = None
        if self.scale is not None:
            expression, sentence, ends = self.scale.words(self.llr, self.propositions)
            names = {name: getattr(self.scale, name) for name in ("name", "source", "status")}
            verbal = {**names, "expression": expression, "sentence": sentence, "low": ends[0], "high": ends[1]}
        entries = {
            "llr": self.llr,
            "log10_lr": self.llr / math.log(10.0),
            "lr": math.exp(self.llr) if self.llr < 700.0 else math.inf,
            "given_llr": self.typed,
            "propositions": list(self.propositions),
            "sentence": self.sentence,
            "verbal": verbal,
            "interval": None if self.interval is None else dict(zip(("low", "high"), self.interval, strict=True)),
            "bounds": None if self.limits is None else dict(zip(("low", "high"), self.limits, strict=True)),
            "model": self.model,
            "case": self.case,
        }
        return dict(plain(entries))


def _about(size: float, borders: Sequence[float] = ()) -> str:
    """Write a factor with two significant digits, or with more if it would be rounded up to a border of a scale."""
    if size > math.log(1e15):
        return f"10^{size / math.log(10.0):.1f}"
    lr = math.exp(size)
    for n in range(2, 7):
        shown = float(f"{lr:.{n}g}")
        if not any(lr < border * (1.0 - _ROUNDING) and shown >= border for border in borders):
            break
    return f"{shown:,.16g}"


def _lr(llr: float, borders: Sequence[float] = ()) -> str:
    return _about(llr, borders) if llr >= 0.0 else f"1 / {_about(-llr, borders)}"


def _log10(llr: float) -> str:
    return f"{llr / math.log(10.0):.2f}"


def _on_both(low: float, high: float) -> str:
    """Write bounds as common and as natural logarithms."""
    return f"log10 LR {_log10(low)} to {_log10(high)}; llr {low:.4g} to {high:.4g} nats"


def statement(
    llr: float,
    *,
    propositions: Sequence[str],
    scale: PathLike | VerbalScale | None = None,
    model: PathLike | Model | None = None,
    interval: Sequence[float] | None = None,
    unit: ScoreUnit = "nats",
    case: PathLike | None = None,
) -> Statement:
    """State a likelihood ratio in numbers and in words.

    Parameters
    ----------
    llr : float
        Log-likelihood ratio in nats.
    propositions : (str, str)
        The proposition that large llrs support, and the alternative, in the words of the case.
    scale : str, path or VerbalScale, optional
        A verbal scale; none by default.
    model : path or Model, optional
        The calibration that computed the llr: its bounds limit the llr, and the statement contains its training data.
    interval : (float, float), optional
        Bounds of the llr, for example of ``deciban apply --interval``.
    unit : {"nats", "log10", "lr"}
        Unit of the llr and of its bounds: natural or common logarithms, or likelihood ratios.
    case : path, optional
        Case file: a TOML file with what the examiner states about the case.

    Returns
    -------
    Statement

    Raises
    ------
    InputError
        If the llr is not finite, a proposition is empty, the unit is unknown, or the interval does not contain the llr.
    FormatError, OSError
        If the scale, the model or the case file cannot be read, or the case file lacks an entry.

    Examples
    --------
    >>> found = statement(2.5, propositions=("same", "different"), scale="enfsi2015", unit="log10")
    >>> found.scale.words(found.llr, found.propositions)[0], round(found.llr, 2)
    ('moderately strong', 5.76)
    """
    one_of(unit, "unit", get_args(ScoreUnit))
    name = "lr" if unit == "lr" else "llr"
    value = _in_nats(llr, name, unit)
    pair = list(propositions) if isinstance(propositions, list | tuple) else []
    if len(pair) != 2 or not all(isinstance(one, str) and one.strip() and one.isprintable() for one in pair):
        raise InputError("propositions: name two, as in the case: ('same speaker', 'different speakers').")
    if pair[0] == pair[1]:
        raise InputError(f"propositions: both are {pair[0]!r}. Name two different ones.")
    ends = None
    if interval is not None:
        low, high = (_in_nats(end, "interval", unit) for end in interval)
        if low > high:
            raise InputError(f"interval: got {interval[0]:g} to {interval[1]:g}. Write the lower bound first.")
        if not low <= value <= high:
            raise InputError(f"interval: {interval[0]:g} to {interval[1]:g} does not contain the {name} {llr:g}.")
        ends = low, high
    result = scale if scale is None or isinstance(scale, VerbalScale) else verbal_scale(scale)
    loaded = model if model is None or isinstance(model, Model) else load_model(model)
    limits = None if loaded is None else bounds_of(content_of(loaded))
    limited = value if limits is None else min(max(value, limits[0]), limits[1])
    if limits is not None and ends is not None:
        ends = min(max(ends[0], limits[0]), limits[1]), min(max(ends[1], limits[0]), limits[1])
    about = None if loaded is None else _facts(content_of(loaded))
    of_case = None if case is None else read_case(case)
    return Statement(limited, value, (pair[0], pair[1]), ends, result, limits, about, of_case)


def _in_nats(value: float, name: str, unit: ScoreUnit) -> float:
    try:
        result = math.log(float(value)) if unit == "lr" else float(value) * (math.log(10.0) if unit == "log10" else 1.0)
    except (TypeError, ValueError):
        result = math.nan
    if unit == "lr" and not math.isfinite(result):
        raise InputError(f"{name}: got {value!r}. A likelihood ratio is above 0 and finite; bound infinite ones first.")
    if not math.isfinite(result):
        raise InputError(f"{name}: got {value!r}. A statement needs a finite number; bound infinite llrs first (elub).")
    return result


def bounds_of(model: Mapping[str, Any]) -> tuple[float, float] | None:
    """Return the bounds of the llrs of a model file; None if it has none.

    Examples
    --------
    >>> bounds_of({"kind": "elub", "parameters": {"low": -2.0, "high": 3.0}})
    (-2.0, 3.0)
    """
    parameters = model["parameters"]
    if model["kind"] in ("elub", "bound"):
        ends = parameters if model["kind"] == "elub" else model["settings"]
        low, high = ends.get("low"), ends.get("high")
        return -math.inf if low is None else float(low), math.inf if high is None else float(high)
    steps = parameters.get("steps") if model["kind"] == "chain" else None
    return bounds_of(steps[-1]) if steps else None


def _facts(model: Mapping[str, Any]) -> dict[str, Any]:
    """Return the facts about the training of a model that a statement contains.

    Raises
    ------
    InputError
        If the model is not for two classes.
    """
    training = model.get("training") or {}
    counts = training.get("counts", {})
    if counts and set(counts) != {"n_tar", "n_non"}:
        raise InputError(
            "model: multiclass. A statement needs a model that computes likelihood ratios of two propositions."
        )
    names = {"n_tar": "target", "n_non": "non-target"}
    steps = model["parameters"].get("steps", ()) if model["kind"] == "chain" else ()
    return {
        "kind": ", ".join(step["kind"] for step in steps) or model["kind"],
        "trained_on": {names[name]: n for name, n in counts.items()},
        "systems": list(training.get("systems", ())),
        "fingerprint": training.get("fingerprint", "unknown"),
        "deciban_version": model["deciban_version"],
    }
