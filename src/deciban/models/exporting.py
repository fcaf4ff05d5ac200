"""Trained models outside of deciban: as a table of steps (JSON), a Python function without imports, and ONNX."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from deciban.errors import InputError
from deciban.models.model import Model, content_of
from deciban.types import AnyArray, Foreign, Json

FORMAT = 1
"""Version of the table of steps."""

Step = Mapping[str, Json]


@dataclass(frozen=True, slots=True)
class Exported:
    """A model as a sequence of steps, each with the name of its operation (``op``) and its numbers.

    Attributes
    ----------
    kind : str
        Kind of the model; of a chain, the kinds of its parts.
    inputs : tuple of str
        Names of the systems in their order; empty if unknown.
    classes : tuple of str
        Names of the classes of multiclass scores; empty for two classes.
    steps : tuple of mapping
    about : str
        Training data and version, in words.
    """

    kind: str
    inputs: tuple[str, ...]
    classes: tuple[str, ...]
    steps: tuple[Step, ...]
    about: str

    @property
    def n_inputs(self) -> int:
        """Number of systems."""
        first = self.steps[0]
        return len(first.get("scale", [1.0])) if self.classes else len(first.get("weights", [1.0]))

    def to_json(self) -> str:
        """Return the table of steps as JSON."""
        output = "log-likelihoods in nats" if self.classes else "log-likelihood ratio in nats"
        content = {"deciban_export": FORMAT, "kind": self.kind, "about": self.about, "output": output}
        steps = [dict(one) for one in self.steps]
        content |= {"inputs": list(self.inputs), "classes": list(self.classes), "steps": steps}
        return json.dumps(content, indent=1, allow_nan=False) + "\n"

    def to_python(self) -> str:
        """Return the source of a module with one function, which needs only the standard library."""
        if self.classes:
            (step,) = self.steps
            template = _CLASSES if step["op"] == "classes" else _NORMALIZED + _COMBINED[step["op"]]
            return template.format(about=_quoted(self.about), classes=list(self.classes), **step)
        is_fusion = self.n_inputs > 1
        constants, lines = list[str](), list[str]()
        for k, step in enumerate(self.steps):
            own, code = _PYTHON[step["op"]](step, f"_{k}")
            constants += own
            lines += code
        argument = "scores" if is_fusion else "score"
        systems = ", ".join(self.inputs) or f"{self.n_inputs} systems"
        words = f"the scores of {systems}, in this order" if is_fusion else "a score"
        body = "\n".join(f"    {line}" for line in ([] if is_fusion else ["x = score"]) + lines)
        imports = [name for name in ("from bisect import bisect_right", "import math") if name.split()[-1] in body]
        head = "\n".join([f'"""{_quoted(self.about)}"""', *imports, *constants])
        doc = f'    """Return the log-likelihood ratio in nats for {_quoted(words)}."""'
        return f"{head}\n\n\ndef llr({argument}):\n{doc}\n{body}\n    return x\n"

    def to_onnx(self) -> bytes:
        """Return an ONNX model with the double input ``scores`` and the double output.

        Two classes: scores (n, n_systems), output ``llr`` (n,). Multiclass: scores (n, n_systems, n_classes), output
        ``loglik`` (n, n_classes). ONNX has no errors: if the model refuses the infinite scores of a row, all outputs of
        the row are NaN.

        Raises
        ------
        InputError
            If the package ``onnx`` is not installed.
        """
        try:
            from onnx import TensorProto, checker, helper, numpy_helper
        except ImportError as error:
            raise InputError("to: ONNX needs the package onnx: pip install 'deciban[onnx]'.") from error
        graph = _Graph(helper, numpy_helper)
        for step in self.steps:
            _ONNX[step["op"]](graph, step)
        shape: list[str | int] = ["n", self.n_inputs, *([len(self.classes)] if self.classes else [])]
        name = "loglik" if self.classes else "llr"
        if not self.classes and self.steps[0]["op"] != "linear":  # (n, 1) until the end
            graph.add("Reshape", graph.whole(-1))
        graph.nodes[-1].output[0] = name
        ends: list[str | int] = ["n", len(self.classes)] if self.classes else ["n"]
        result = helper.make_graph(
            graph.nodes,
            "deciban",
            [helper.make_tensor_value_info("scores", TensorProto.DOUBLE, shape)],
            [helper.make_tensor_value_info(name, TensorProto.DOUBLE, ends)],
            graph.constants,
            doc_string=self.about,
        )
        opset = [helper.make_opsetid("", _OPSET)]
        model = helper.make_model(result, producer_name="deciban", opset_imports=opset, ir_version=_IR)
        checker.check_model(model)
        content: bytes = model.SerializeToString()
        return content


_OPSET, _IR = 17, 8
"""Versions of ONNX (2022) that all current runtimes read."""


def exported(model: Model) -> Exported:
    """Return a trained model as a sequence of steps.

    Parameters
    ----------
    model : Model
        A calibration, a chain of calibrations, or a linear fusion; two classes or multiclass.

    Returns
    -------
    Exported

    Raises
    ------
    InputError
        If the model is of another kind, or some of its llrs are infinite.

    Examples
    --------
    >>> from deciban.calibration import AffineCalibrator
    >>> model = AffineCalibrator().fit([1.0, 2.0, 0.0, 1.5], [True, True, False, False])
    >>> namespace = {}
    >>> exec(exported(model).to_python(), namespace)
    >>> bool(abs(namespace["llr"](1.25) - model.transform([1.25])[0]) < 1e-12)
    True
    """
    content = content_of(model)
    parts = content["parameters"]["steps"] if content["kind"] == "chain" else [content]
    training = content.get("training") or {}
    steps = tuple(step for part in parts for step in _steps(part))
    kind, classes = ", ".join(part["kind"] for part in parts), tuple[str, ...]()
    if "classes" in content["parameters"]:
        names = content["parameters"]["classes"] or []
        classes = tuple(map(str, names)) or tuple(map(str, range(len(steps[0]["offset"]))))
    value = training.get("counts", {})
    counts = f"{sum(value.values()):,} labelled"
    if not classes:
        counts = " and ".join(f"{n:,} {_COUNTS[k]}" for k, n in value.items())
    known = training.get("results", {})
    others = sorted({*str(known.get("unit", "nats")).split(",")} - {"undeclared", "nats"})
    others += ["scores with changed signs"] if known.get("negate") else []
    if others:
        raise InputError(
            f"model: it was trained on {' and '.join(others)}, which only deciban apply converts. Convert scores to "
            "natural logarithms with the higher score for targets (deciban convert), and train on them to export."
        )
    about = f"Model of deciban {content['deciban_version']}: {kind}, trained on {counts or 'unknown'} trials"
    return Exported(kind, tuple(training.get("systems", ())), classes, steps, f"{about}.")


_COUNTS = {"n_tar": "target", "n_non": "non-target"}


def _steps(part: Mapping[str, Json]) -> list[Step]:
    """Return the steps of one model."""
    result = _STEPS.get(part["kind"])
    if result is None:
        raise InputError(
            f"model: {part['kind']} cannot be exported. Use one of {', '.join(_STEPS)}, or a chain of these. Fusions "
            "with quality measures or missing systems need the names of trials: use deciban apply."
        )
    steps: list[Step] = result(part["parameters"], part.get("settings", {}))
    for step in steps:
        numbers = [np.ravel(np.asarray(value, np.float64)) for name, value in step.items() if name != "op"]
        if not all(np.isfinite(one).all() for one in numbers):
            words = "some of its llrs or borders are infinite. Train it with smoothing or a bound"
            raise InputError(f"model: {part['kind']} cannot be exported, as {words}.")
    return steps


_LARGEST = sys.float_info.max
"""Bound of an llr that has none."""


def _linear(weights: Sequence[float], offset: float) -> list[Step]:
    return [{"op": "linear", "weights": list(weights), "offset": offset}]


def _clip(ends: Mapping[str, Json]) -> list[Step]:
    usual = {"low": -_LARGEST, "high": _LARGEST}
    return [
        {"op": "clip"} | {side: end if ends.get(side) is None else float(ends[side]) for side, end in usual.items()}
    ]


def _pav(parameters: Mapping[str, Json], settings: Mapping[str, Json]) -> list[Step]:
    low, high, llr = (np.array(list(map(float, parameters[name]))) for name in ("low", "high", "llr"))
    if settings.get("interpolation") == "step":
        borders = np.clip(0.5 * high[:-1] + 0.5 * low[1:], np.nextafter(high[:-1], np.inf), low[1:])
        return [{"op": "steps", "borders": borders.tolist(), "llrs": llr.tolist()}]
    edges, values = np.stack((low, high), axis=1).ravel(), np.repeat(llr, 2)
    is_new = np.append(True, np.diff(edges) > 0.0)  # the first edge
    return [{"op": "table", "scores": edges[is_new].tolist(), "llrs": values[is_new].tolist()}]


def _beta(parameters: Mapping[str, Json], settings: Mapping[str, Json]) -> list[Step]:
    first: list[Step] = [] if settings.get("scores") == "log_odds" else [{"op": "log_odds"}]
    return [*first, {"op": "beta", **{name: parameters[name] for name in "abc"}}]


def _gaussian(parameters: Mapping[str, Json], _: object) -> list[Step]:
    names = ("mean_tar", "mean_non", "sd_tar", "sd_non")
    tar, non, sd_tar, sd_non = (float(parameters[name]) for name in names)
    if sd_tar == sd_non:
        slope = (tar - non) / sd_tar / sd_tar
        return _linear([slope], -slope * (0.5 * tar + 0.5 * non))
    return [{"op": "gaussian", **{name: parameters[name] for name in names}}]


def _classes(scale: Json, offset: Sequence[float]) -> list[Step]:
    rows = np.atleast_1d(np.asarray(scale, np.float64))
    rows = np.repeat(rows[:, None], len(offset), axis=1) if rows.ndim == 1 else rows
    return [{"op": "classes", "scale": rows.tolist(), "offset": list(offset)}]


_STEPS: dict[str, Callable[[Mapping[str, Json], Mapping[str, Json]], list[Step]]] = {
    **dict.fromkeys(("affine", "shift", "scale"), lambda p, _: _linear([p["scale"]], p["offset"])),
    "bound": lambda _, settings: _clip(settings),
    "elub": lambda parameters, _: _clip(parameters),
    "pav": _pav,
    "beta": _beta,
    "gaussian": _gaussian,
    "linear-fusion": lambda p, _: _linear(p["weights"], p["offset"]),
    **dict.fromkeys(
        ("multiclass-affine", "multiclass-scale", "multiclass-shift"), lambda p, _: _classes(p["scale"], p["offset"])
    ),
    "multiclass-fusion": lambda p, _: _classes(p["weights"], p["offset"]),
    "class-scale": lambda p, _: [{"op": "diagonal", "diagonal": list(p["scale"]), "offset": list(p["offset"])}],
    "class-matrix": lambda p, _: [{"op": "matrix", "matrix": [*map(list, p["matrix"])], "offset": list(p["offset"])}],
}
"""Steps of each kind of model, from its parameters and settings."""


def _quoted(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', "'")


_CLASSES = '''"""{about}"""

CLASSES = {classes!r}
SCALE = {scale!r}
OFFSET = {offset!r}


def loglik(scores):
    """Return calibrated log-likelihoods in nats; scores: one list for each system, with a score for each class."""
    columns = zip(*scores, strict=True)
    return [sum(w * s for w, s in zip(ws, ss)) + b for ws, ss, b in zip(zip(*SCALE), columns, OFFSET, strict=True)]
'''

_NORMALIZED = '''"""{about}"""

import math

CLASSES = {classes!r}
OFFSET = {offset!r}
'''
_COMBINED = {
    "diagonal": '''SCALE = {diagonal!r}


def loglik(scores):
    """Return transformed log-likelihoods in nats; scores: a list with one list, of a score for each class."""
    (row,), top = scores, max(scores[0])
    if math.isinf(top):  # the other classes are excluded
        row, top = [0.0 if x == top else -math.inf for x in row], 0.0
    if any(x == -math.inf and w <= 0.0 for w, x in zip(SCALE, row, strict=True)):
        raise ValueError("a score of -inf excludes a class whose scale is not positive")
    mean = top + math.log(sum(math.exp(x - top) for x in row) / len(row))
    return [w * (x - mean) + b for w, x, b in zip(SCALE, row, OFFSET, strict=True)]
''',
    "matrix": '''MATRIX = {matrix!r}


def loglik(scores):
    """Return transformed log-likelihoods in nats; scores: a list with one list, of a finite score for each class."""
    (row,), top = scores, max(scores[0])
    if any(map(math.isinf, row)):
        raise ValueError("a matrix needs finite scores")
    mean = top + math.log(sum(math.exp(x - top) for x in row) / len(row))
    return [sum(w * (x - mean) for w, x in zip(ws, row, strict=True)) + b for ws, b in zip(MATRIX, OFFSET, strict=True)]
''',
}
"""Source of maps of normalized log-likelihoods."""

_Code = tuple[list[str], list[str]]


def _python_linear(step: Step, name: str) -> _Code:
    if len(step["weights"]) == 1:
        return [], [f"x = {step['weights'][0]!r} * x + {step['offset']!r}"]
    code = f"x = sum(w * s for w, s in zip(WEIGHTS{name}, scores, strict=True)) + {step['offset']!r}"
    return [f"WEIGHTS{name} = {step['weights']!r}"], [code]


def _python_table(step: Step, name: str) -> _Code:
    scores, llrs = step["scores"], step["llrs"]
    if len(scores) == 1:
        return [], [f"x = {llrs[0]!r}"]
    code = [
        f"k = min(max(bisect_right(SCORES{name}, x), 1), {len(scores) - 1})",
        f"share = (x - SCORES{name}[k - 1]) / (SCORES{name}[k] - SCORES{name}[k - 1])",
        f"x = LLRS{name}[k - 1] + (LLRS{name}[k] - LLRS{name}[k - 1]) * min(max(share, 0.0), 1.0)",
    ]
    return [f"SCORES{name} = {scores!r}", f"LLRS{name} = {llrs!r}"], code


def _python_steps(step: Step, name: str) -> _Code:
    constants = [f"BORDERS{name} = {step['borders']!r}", f"LLRS{name} = {step['llrs']!r}"]
    return constants, [f"x = LLRS{name}[bisect_right(BORDERS{name}, x)]"]


def _python_beta(step: Step, _: str) -> _Code:
    terms = [f"{step['c']!r}"]
    terms += [f"- {step['a']!r} * (max(-x, 0.0) + rest)"] if step["a"] else []
    terms += [f"+ {step['b']!r} * (max(x, 0.0) + rest)"] if step["b"] else []
    return [], ["rest = math.log1p(math.exp(-abs(x)))", f"x = {' '.join(terms)}"]


def _python_gaussian(step: Step, _: str) -> _Code:
    tar, non = (f"((x - {step[f'mean_{kind}']!r}) / {step[f'sd_{kind}']!r}) ** 2" for kind in ("tar", "non"))
    return [], [f"x = 0.5 * ({non} - {tar}) + {math.log(step['sd_non'] / step['sd_tar'])!r}"]


_PYTHON: dict[str, Callable[[Step, str], _Code]] = {
    "linear": _python_linear,
    "clip": lambda step, _: ([], [f"x = min(max(x, {step['low']!r}), {step['high']!r})"]),
    "table": _python_table,
    "steps": _python_steps,
    "log_odds": lambda *_: (
        [],
        ["x = math.log(x) - math.log1p(-x) if 0.0 < x < 1.0 else math.copysign(math.inf, x - 0.5)"],
    ),
    "beta": _python_beta,
    "gaussian": _python_gaussian,
}


class _Graph:
    """Nodes and constants of an ONNX graph; ``last`` is the name of the latest result."""

    def __init__(self, helper: Foreign, numpy_helper: Foreign) -> None:
        self._helper, self._numpy = helper, numpy_helper
        self.nodes, self.constants, self.last = list[Foreign](), list[Foreign](), "scores"

    def constant(self, value: Json) -> str:
        """Add float64 numbers."""
        return self._constant(np.asarray(value, np.float64))

    def whole(self, *values: int) -> str:
        """Add whole numbers, such as a shape."""
        return self._constant(np.array(values, np.int64))

    def _constant(self, array: AnyArray) -> str:
        name = f"c{len(self.constants)}"
        self.constants.append(self._numpy.from_array(array, name))
        return name

    def add(self, op: str, *others: str, first: str | None = None, **how: Foreign) -> str:
        name = f"x{len(self.nodes)}"
        self.nodes.append(self._helper.make_node(op, [self.last if first is None else first, *others], [name], **how))
        self.last = name
        return name


def _onnx_linear(graph: _Graph, step: Step) -> None:
    if len(step["weights"]) > 1:
        graph.add("MatMul", graph.constant(step["weights"]))
    else:
        graph.add("Mul", graph.constant(step["weights"][0]))
        if len(graph.nodes) == 1:  # (n, 1) to (n,)
            graph.add("Reshape", graph.whole(-1))
    graph.add("Add", graph.constant(step["offset"]))


def _onnx_place(graph: _Graph, borders: Sequence[float]) -> str:
    """Add the number of borders at or below each score, (n,)."""
    graph.add("Reshape", graph.whole(-1, 1))
    graph.add("GreaterOrEqual", graph.constant(borders))
    graph.add("Cast", to=7)  # int64
    return graph.add("ReduceSum", graph.whole(1), keepdims=0)


def _onnx_table(graph: _Graph, step: Step) -> None:
    x, y = np.array(step["scores"]), np.array(step["llrs"])
    at = graph.add("Reshape", graph.whole(-1))
    score = graph.add("Clip", graph.constant(x[0]), graph.constant(x[-1]), first=at)
    place = _onnx_place(graph, x[1:-1].tolist() or [_LARGEST])
    slope = np.diff(y) / np.diff(x) if len(x) > 1 else np.zeros(1)
    tables = (x[: len(slope)], y[: len(slope)], slope)
    start, base, rise = (graph.add("Gather", place, first=graph.constant(one)) for one in tables)
    graph.add("Sub", start, first=score)
    graph.add("Mul", rise)
    graph.add("Add", base)


def _onnx_steps(graph: _Graph, step: Step) -> None:
    place = _onnx_place(graph, step["borders"] or [_LARGEST])
    graph.add("Gather", place, first=graph.constant(step["llrs"]))


def _onnx_log_odds(graph: _Graph, _: Step) -> None:
    p = graph.last
    rest = graph.add("Sub", p, first=graph.constant(1.0))
    graph.add("Div", rest, first=p)
    graph.add("Log")


def _onnx_beta(graph: _Graph, step: Step) -> None:
    x = graph.last
    graph.add("Neg", first=graph.add("Abs"))
    rest = graph.add("Log", first=graph.add("Add", graph.constant(1.0), first=graph.add("Exp")))
    sides = [graph.add("Add", rest, first=graph.add("Relu", first=one)) for one in (graph.add("Neg", first=x), x)]
    total = graph.constant(step["c"])
    for weight, side in ((-step["a"], sides[0]), (step["b"], sides[1])):
        if weight:
            total = graph.add("Add", graph.add("Mul", graph.constant(weight), first=side), first=total)
    if total == graph.last:
        return
    graph.add("Mul", graph.constant(0.0), first=x)
    graph.add("Add", total)


def _onnx_gaussian(graph: _Graph, step: Step) -> None:
    x, squares = graph.last, list[str]()
    for kind in ("tar", "non"):
        graph.add("Sub", graph.constant(step[f"mean_{kind}"]), first=x)
        one = graph.add("Div", graph.constant(step[f"sd_{kind}"]))
        squares.append(graph.add("Mul", one))
    graph.add("Sub", squares[0], first=squares[1])
    graph.add("Mul", graph.constant(0.5))
    graph.add("Add", graph.constant(math.log(step["sd_non"] / step["sd_tar"])))


def _onnx_classes(graph: _Graph, step: Step) -> None:
    graph.add("Mul", graph.constant(step["scale"]))
    graph.add("ReduceSum", graph.whole(1), keepdims=0)
    graph.add("Add", graph.constant(step["offset"]))


def _onnx_normalized(graph: _Graph, step: Step) -> None:
    """Add a diagonal or matrix of normalized log-likelihoods."""
    n_classes = len(step["offset"])
    row = graph.add("Reshape", graph.whole(-1, n_classes))
    top = graph.add("ReduceMax", axes=[1], keepdims=1)
    below = graph.add("Sub", top, first=row)
    certain = graph.add("Where", graph.constant(0.0), graph.constant(-np.inf), first=graph.add("Equal", top, first=row))
    shifted = graph.add("Where", certain, below, first=graph.add("IsInf", first=top))
    graph.add("Exp")
    graph.add("ReduceMean", axes=[1], keepdims=1)
    graph.add("Sub", graph.add("Log"), first=shifted)
    if step["op"] == "matrix":
        refused = row
        mapped = graph.add("MatMul", graph.constant(np.transpose(step["matrix"])), first=graph.last)
    else:
        mapped = graph.add("Mul", graph.constant(step["diagonal"]))
        wrong = [k for k, scale in enumerate(step["diagonal"]) if scale <= 0.0]
        refused = graph.add("Gather", graph.whole(*wrong), first=shifted, axis=1) if wrong else ""
    if refused:  # infinite scores minus themselves are NaN
        graph.add("Sub", refused, first=refused)
        graph.add("Add", graph.add("ReduceSum", graph.whole(1), keepdims=1), first=mapped)
    graph.add("Add", graph.constant(step["offset"]))


_ONNX: dict[str, Callable[[_Graph, Step], None]] = {
    "linear": _onnx_linear,
    "clip": lambda graph, step: (graph.add("Clip", graph.constant(step["low"]), graph.constant(step["high"])), None)[1],
    "table": _onnx_table,
    "steps": _onnx_steps,
    "log_odds": _onnx_log_odds,
    "beta": _onnx_beta,
    "gaussian": _onnx_gaussian,
    "classes": _onnx_classes,
    "diagonal": _onnx_normalized,
    "matrix": _onnx_normalized,
}
