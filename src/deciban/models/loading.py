"""Loading of models from JSON files: all content is checked, and no code is run."""

from __future__ import annotations

import inspect
import json
import math
import re
from importlib import resources
from pathlib import Path
from typing import NoReturn

from deciban._files import content_of, stream_of
from deciban._lazy import registered, registered_names
from deciban.errors import FormatError, InputError, display_name, is_open_file, require_file_name
from deciban.models.model import SCHEMA, Model, Training, uncertainty_of
from deciban.types import Json, PathLike

_MOST_BYTES = 1 << 30

NUMBER: dict[str, Json] = {"oneOf": [{"type": "number"}, {"enum": ["inf", "-inf"]}]}
"""A number in a model file; JSON has no infinity."""


def load_model(path: PathLike) -> Model:
    """Read a model that ``save`` or ``deciban calibrate`` wrote.

    Parameters
    ----------
    path : path or open file
        ``-`` is standard input.

    Returns
    -------
    Model
        An instance of the class that was saved, with its ``training_`` record.

    Raises
    ------
    FormatError
        If the file is not a model, is damaged or inconsistent, or was written by a later version.
    OSError
        If the file cannot be read.

    Notes
    -----
    The whole file is checked against a schema, and no code in it is run.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from deciban.calibration import AffineCalibrator
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "model.json"
    >>> AffineCalibrator().fit([1.0, 2.0, 0.0, 1.5], [True, True, False, False]).save(path)
    >>> load_model(path)
    AffineCalibrator(p_target=0.5, alpha=1.0, beta=1.0, ridge=0.0)
    """
    require_file_name(path)
    data: bytes | None
    name = display_name(path)
    if is_open_file(path):
        data = content_of(path, name)
    elif str(path) != "-" and (file := Path(path)).is_file():
        data = file.read_bytes() if file.stat().st_size <= _MOST_BYTES else None
    else:
        with stream_of(path) as stream:
            data = stream.read(_MOST_BYTES + 1)
    if data is None or len(data) > _MOST_BYTES:
        raise FormatError(f"{name}: larger than 1 GB, so this is not a model file.")
    return model_of(parsed(data, name), name)


_TOKEN = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"|[-+.\w]+')
"""Strings of JSON, and the numbers and words between them."""


def parsed(data: bytes, name: str) -> Json:
    """Return the content of a JSON file; messages begin with ``name``.

    Raises
    ------
    FormatError
        If the data is not JSON, contains a number beyond double precision, or repeats a name in one object.
    """

    def refuse(word: str) -> NoReturn:
        text = data.decode("utf-8")
        first = next((one.start() for one in _TOKEN.finditer(text) if one[0] == word), 0)
        raise FormatError(
            f"{name}:{text.count(chr(10), 0, first) + 1}: {word[:40]} is not a valid number. Damaged, "
            "or not written by deciban."
        )

    def finite(digits: str) -> float:
        number = float(digits)
        return number if math.isfinite(number) else refuse(digits)

    def fitting(digits: str) -> int:
        return int(digits) if math.isfinite(float(digits)) else refuse(digits)

    def unique(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
        result = dict(pairs)
        if len(result) < len(pairs):
            raise FormatError(f"{name}: a name occurs twice in one object. Damaged, or not written by deciban.")
        return result

    try:
        content: Json = json.loads(
            data.decode("utf-8"), parse_constant=refuse, parse_float=finite, parse_int=fitting, object_pairs_hook=unique
        )
        json.dumps(content, ensure_ascii=False).encode()  # refuses lone surrogates, which could not be written
    except UnicodeDecodeError as error:
        where = f"{error.reason} at byte {error.start}"
        raise FormatError(f"{name}: not UTF-8 text ({where}), so not a model file.") from error
    except json.JSONDecodeError as error:
        raise FormatError(f"{name}:{error.lineno}: not JSON ({error.msg}), so not a model file.") from error
    except (RecursionError, ValueError) as error:
        if isinstance(error, FormatError):
            raise
        raise FormatError(f"{name}: not valid JSON ({error}).") from error
    return content


def model_of(content: Json, name: str) -> Model:
    """Return the model in the content of a file, or in a part of it.

    Raises
    ------
    FormatError
        If the content is not a model; the message begins with ``name``.
    """
    if not isinstance(content, dict) or "deciban_model" not in content:
        raise FormatError(f"{name}: JSON, but not a deciban model (deciban_model is missing).")
    if content["deciban_model"] != SCHEMA:
        version = content.get("deciban_version", "?")
        raise FormatError(
            f"{name}: model layout {content['deciban_model']!r}, written by deciban {version}; this version reads "
            f"layout {SCHEMA}. Use the version that wrote it, or train again."
        )
    kind = content.get("kind")
    if kind not in (kinds := registered_names("models")):
        raise FormatError(f"{name}: a model of kind {kind!r} is unknown. Known kinds: {', '.join(kinds)}.")
    model_class: type[Model] = registered("models", kind)
    _validate(content, model_class, name)
    _require_settings(content["settings"], model_class, name)
    try:
        model = model_class(**content["settings"])
    except (InputError, TypeError) as error:
        raise FormatError(f"{name}: {_placed(error, content, 'settings')}") from error
    try:
        model.set_parameters(_numbers(content["parameters"]))
    except (FormatError, InputError, TypeError) as error:
        raise FormatError(f"{name}: {_placed(error, content, 'parameters', 'settings')}") from error
    if "uncertainty" in content:
        try:
            model.uncertainty_ = uncertainty_of(_numbers(content["uncertainty"]), model)
        except (FormatError, InputError, TypeError) as error:
            raise FormatError(f"{name}: uncertainty: {error}") from error
    training = content.get("training")
    if training is not None:
        _require_training(training, model, name)
        counts = {one: int(count) for one, count in training["counts"].items()}
        systems, results = tuple(training["systems"]), _numbers(training["results"])
        model.training_ = Training(counts, training["fingerprint"], systems, results)
    return model


def _placed(error: Exception, content: dict[str, Json], *sections: str) -> str:
    """Return the message of an error, prefixed by the section of the file that contains its first name."""
    words = str(error)
    if (named := re.match(r"(\w+)(\[\d+\])*[:,]", words)) is not None:
        for section in sections:
            if named[1] in content[section]:
                return f"{section}.{words}"
    return words


def _require_training(training: dict[str, Json], model: Model, name: str) -> None:
    """Refuse a record whose system names do not match the model, or whose counts are of other classes.

    Names may be missing.
    """
    systems, counts, n_systems = training["systems"], training["counts"], getattr(model, "n_systems_", 1)
    if systems and (len(systems) != n_systems or len(set(systems)) < n_systems):
        raise FormatError(
            f"{name}: training.systems: {', '.join(systems)[:200]}, for a model of {n_systems} systems. Every system "
            "needs a different name. Damaged, or not written by deciban."
        )
    if counts.keys() != set(model.counted):
        raise FormatError(
            f"{name}: training.counts: of {', '.join(counts)[:200] or 'nothing'}, but the model has "
            f"{', '.join(model.counted)[:200]}. Damaged, or not written by deciban."
        )


def _validate(content: Json, model_class: type[Model], name: str) -> None:
    import jsonschema

    parameters = model_class.parameter_schema
    schema = json.loads(resources.files(__package__).joinpath("model.schema.json").read_text("utf-8"))
    schema["properties"]["parameters"] |= {"properties": parameters, "required": list(parameters)}
    error = jsonschema.exceptions.best_match(jsonschema.Draft202012Validator(schema).iter_errors(content))
    if error is not None:
        where = ".".join(str(part) for part in error.absolute_path) or "the file"
        raise FormatError(f"{name}: {where}: {error.message[:200]}. Damaged, or not written by deciban.")


def _require_settings(settings: dict[str, Json], model_class: type[Model], name: str) -> None:
    """Refuse unknown settings; the constructor checks their values.

    One exception: Python accepts true as 1.
    """
    parameters = inspect.signature(model_class).parameters.values()
    known = {one.name: one.default for one in parameters if one.kind is one.KEYWORD_ONLY}
    unknown = [setting for setting in settings if setting not in known]
    if unknown:
        there = f"known settings: {', '.join(known)}" if known else "it has no settings"
        raise FormatError(
            f"{name}: settings.{unknown[0][:40]}: not a setting of a model of kind {model_class.kind!r}; {there}. "
            "Damaged, written by a later version, or not by deciban."
        )
    for setting, value in settings.items():
        if isinstance(value, bool) and not isinstance(known[setting], bool):
            raise FormatError(
                f"{name}: settings.{setting}: {str(value).lower()}, but this setting is not a truth value. "
                "Damaged, or not written by deciban."
            )


def _numbers(value: Json) -> Json:
    """Convert words to infinite numbers."""
    if isinstance(value, dict):
        return {name: _numbers(entry) for name, entry in value.items()}
    if isinstance(value, list):
        return [_numbers(entry) for entry in value]
    return float(value) if value in ("inf", "-inf") else value
