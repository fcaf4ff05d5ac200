"""Figures that comparisons show: what they are called, in which unit, and which way is better."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from deciban.errors import InputError
from deciban.evaluation.one_system import OneSystem
from deciban.evaluation.uncertainty import Figure
from deciban.messages import counted


@dataclass(frozen=True, slots=True)
class Shown:
    """How a figure is shown.

    Attributes
    ----------
    words : str
    in_percent : bool
    digits : int
        Decimals where it is not in percent.
    larger_is_better : bool
    at_points : bool
        Whether there is one at each operating point.
    of_rule : bool
        Whether it is by a rule of the user's own, one at each prior of the operating points.
    """

    words: str
    in_percent: bool = False
    digits: int = 3
    larger_is_better: bool = False
    at_points: bool = False
    of_rule: bool = False


FIGURES = {
    "eer": Shown("EER (ROCCH)", in_percent=True),
    "min_dcf": Shown("minDCF", at_points=True),
    "act_dcf": Shown("actDCF", at_points=True),
    "mean_min_dcf": Shown("mean minDCF"),
    "mean_act_dcf": Shown("mean actDCF"),
    "cllr": Shown("Cllr"),
    "min_cllr": Shown("min Cllr"),
    "calibration_loss": Shown("calibration loss"),
    "information": Shown("information", larger_is_better=True),
    "c_avg": Shown("C_avg", digits=4, at_points=True),
    "min_c_avg": Shown("min C_avg", digits=4, at_points=True),
    "error_rate": Shown("error rate", in_percent=True),
    "brier": Shown("Brier"),
    "cross_entropy": Shown("cross-entropy"),
    "auc": Shown("AUC", digits=4, larger_is_better=True),
    "rule_cost": Shown("cost by own rule", digits=4, of_rule=True),
    "rule_minimum": Shown("minimum by own rule", digits=4, of_rule=True),
    "rule_calibration_loss": Shown("calibration loss by own rule", digits=4, of_rule=True),
    "rule_information": Shown("information by own rule", digits=4, larger_is_better=True, of_rule=True),
}
"""Those of tables, of both kinds of scores, in their order there."""


def shown(figure: Figure) -> Shown:
    """How a figure is shown; what tables do not have is smaller where it is better, as costs and error rates are."""
    name = figure if isinstance(figure, str) else figure[0]
    return FIGURES.get(name, Shown(name.replace("_", " ")))


def figures_of(systems: tuple[OneSystem, ...]) -> list[Figure]:
    """Figures that all systems have, in the order of tables; the mean over points only if there are several."""
    several = len(systems[0].point_names) > 1
    wanted = list[Figure]()
    for name, how in FIGURES.items():
        if how.at_points or how.of_rule:
            wanted += [(name, k) for k in range(len(systems[0].point_names))]
        elif several or not name.startswith("mean_"):
            wanted.append(name)
    return [one for one in wanted if all(one in estimates_of(system) for system in systems)]


_OF_TWO_CLASSES = ("eer", "min_dcf", "act_dcf", "cllr", "min_cllr", "calibration_loss", "auc")


def without_interval(systems: Sequence[Any]) -> list[str]:
    """Return the names of finite metrics of two classes of which some system has no interval."""
    found = list[str]()
    for name in _OF_TWO_CLASSES if systems[0].kind == "two-class" else ():
        n_points = len(systems[0].operating_points)
        for figure in [(name, k) for k in range(n_points)] if shown(name).at_points else [name]:
            owners = [one if isinstance(figure, str) else one.operating_points[figure[1]] for one in systems]
            is_finite = all(math.isfinite(getattr(one, name)) for one in owners)
            if is_finite and not all(figure in estimates_of(one) for one in systems):
                found.append(in_words(figure, systems[0]))
    return found


def estimates_of(system: OneSystem) -> Any:
    """Figures with their standard errors; none if units are unknown."""
    return {} if system.uncertainty is None else system.uncertainty.estimates


def in_words(figure: Figure, system: OneSystem) -> str:
    """What a figure is called, with its operating point where there is one."""
    if isinstance(figure, str):
        return shown(figure).words
    words, place = shown(figure).words, figure[1]
    if shown(figure).of_rule:
        return f"{words} at prior {rule_costs_of(system)[int(place)].p_target:g}"
    if isinstance(place, int) and (shown(figure).at_points or place < len(system.point_names)):
        return f"{words} at {system.point_names[place]}"
    return " ".join([words, *map(str, figure[1:])])


def rule_costs_of(system: Any) -> Any:
    """Figures by a rule of the user's own; none of many classes."""
    return system.requested.rule_costs if system.kind == "two-class" else ()


_AT = re.compile(r"(?P<name>\w+)(?:@(?P<point>[1-9]\d*))?")


def figure_called(text: str, system: OneSystem) -> Figure:
    """A figure by its name: that at the first operating point, or ``min_dcf@2`` for the second one.

    Raises
    ------
    InputError
        If the system has none of this name.
    """
    return figure_among(estimates_of(system), text, f"{system.name} that has an interval")


def figure_among(known: Collection[Figure], text: str, whose: str, argument: str = "figure") -> Figure:
    """A figure by its name, if it is among those that are known.

    Parameters
    ----------
    known : collection of figures
    text : str
        As in `figure_called`.
    whose, argument : str
        For the message: of what there is no such figure, and what asked for it.

    Raises
    ------
    InputError
        If it is not among them.

    Examples
    --------
    >>> known = ["eer", ("min_dcf", 0), ("min_dcf", 1)]
    >>> figure_among(known, "eer", "this system"), figure_among(known, "min_dcf@2", "this system")
    ('eer', ('min_dcf', 1))
    """
    found = _AT.fullmatch(text)
    if found is not None:
        name, point = found["name"], int(found["point"] or 1)
        if (name, point - 1) in known:
            return name, point - 1
        if found["point"] is None and name in known:
            return name
        n_points = sum(one[0] == name for one in known if not isinstance(one, str) and shown(one).at_points)
        if n_points:
            raise InputError(f"{argument}: {text!r} asks for more than {counted(n_points, 'operating point')}.")
    names = dict.fromkeys(one if isinstance(one, str) else one[0] for one in known)
    raise InputError(
        f"{argument}: {text!r} is no figure of {whose}. There are {', '.join(names)}; at the second one of several "
        f"operating points, write {_example(known)}@2."
    )


def _example(known: Collection[Figure]) -> str:
    return next((one[0] for one in known if not isinstance(one, str) and shown(one).at_points), "min_dcf")


def key_of(figure: Figure) -> str:
    """A figure in one word, as `figure_called` takes it.

    >>> key_of("eer"), key_of(("min_dcf", 1))
    ('eer', 'min_dcf@2')
    """
    if isinstance(figure, str):
        return figure
    name, place, *_ = figure
    return f"{name}@{place + 1}" if isinstance(place, int) else f"{name}@{place}"


def written(value: float, how: Shown, *, sign: bool = False) -> str:
    """Write a figure, or a difference of two, in its unit.

    >>> written(-0.01234, Shown("EER", in_percent=True)), written(0.1239, Shown("Cllr"), sign=True)
    ('-1.23', '+0.124')
    """
    plus, digits = "+" if sign else "", 2 if how.in_percent else how.digits
    scaled = 100.0 * value if how.in_percent else value
    return f"{scaled:{plus}z.{digits}f}" if abs(scaled) < 1e6 else f"{scaled:{plus}.4g}"


def with_unit(text: str, how: Shown) -> str:
    """What was written, with the sign of percent."""
    return f"{text} %" if how.in_percent else text
