"""The rules of the house that a machine can check."""

import ast
import dataclasses
import importlib
import importlib.util
import inspect
import pkgutil
import shlex
import subprocess
import sys
import tomllib
import typing
from collections import Counter
from pathlib import Path

import numpydoc.validate
import pytest

import deciban
from support.parsed import nodes, tree
from support.score_files import write_score_files

ROOT = Path(__file__).parents[2]
SOURCES = sorted((ROOT / "src").rglob("*.py"))
PUBLIC_MODULES = [
    "deciban",
    "deciban.calibration",
    "deciban.decisions",
    "deciban.fusion",
    "deciban.losses",
    "deciban.metrics",
    "deciban.models",
    "deciban.multiclass",
    "deciban.evaluation",
    "deciban.analysis",
    "deciban.trials",
    "deciban.io",
    "deciban.plots",
    "deciban.rules",
    "deciban.spoofing",
    "deciban.biometrics",
    "deciban.workflows",
    "deciban.report",
    "deciban.sklearn",
]

MOST = {"code lines": 59_045, "modules": 246, "lines on memory": 40}
"""Ceilings of the source as a whole; whoever removes more than a few lines lowers them."""

FARTHEST = {"eval of two classes": (45, 15), "fuse": (62, 18), "eval of many classes": (62, 20)}
"""Ceilings of the modules that a command on small files enters, and of its deepest stack."""


def house():
    """The benchmark that counts lines and modules."""
    spec = importlib.util.spec_from_file_location("house", ROOT / "benchmarks" / "house.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


code_lines, import_lines = house().code_lines, house().import_lines


def test_the_source_does_not_grow():
    counts = {"code lines": sum(map(code_lines, SOURCES)), "modules": len(SOURCES)}
    counts["lines on memory"] = sum(house().lines_on_memory().values())
    grown = {name: n for name, n in counts.items() if n > MOST[name]}
    assert not grown, (
        f"{grown}, but at most {MOST}: delete as much elsewhere (`python benchmarks/house.py` counts lines)"
    )


def test_imports_are_a_small_share_of_the_code():
    """A module that is used under many names is imported itself; small modules of one topic are one module."""
    share = sum(map(import_lines, SOURCES)) / sum(map(code_lines, SOURCES))
    assert share <= 0.08, f"{share:.2%} of the lines of code import something (`python benchmarks/house.py`)"


def test_commands_on_small_files_do_not_go_farther():
    code = "import house; print({name: (len(walk.rooms), walk.deepest) for name, walk in house.walks().items()})"
    words, folder = [sys.executable, "-c", code], ROOT / "benchmarks"
    found = ast.literal_eval(subprocess.run(words, cwd=folder, capture_output=True, text=True, check=True).stdout)
    assert found.keys() == FARTHEST.keys()
    farther = {name: n for name, n in found.items() if n[0] > FARTHEST[name][0] or n[1] > FARTHEST[name][1]}
    assert not farther, f"{farther}, but at most {FARTHEST}: `python benchmarks/house.py` walks through the commands"


PARTICIPLES, MOST_PARTICIPLES = {"found", "made", "told", "listed", "wanted", "given", "asked", "said"}, 29
"""Names that say what happened to a value, not what it is, and their ceiling."""


def test_names_are_nouns():
    names = Counter(node.id for path in SOURCES for node in nodes(path) if isinstance(node, ast.Name))
    assert sum(names[name] for name in PARTICIPLES) <= MOST_PARTICIPLES


UNTYPED = {"Any alone": 243, "dictionaries of Any": 0, "asserts": 0}
"""Ceilings: annotations that are `Any` and nothing else, dictionaries of them, asserts; who has fewer lowers them."""


def untyped(node):
    """Yield what a node leaves to `Any`, or asserts instead of having a type that says it."""
    given = [getattr(node, name, None) for name in ("annotation", "returns")]
    is_any = any(isinstance(one, ast.Name) and one.id == "Any" for one in given)
    if is_any:
        yield "Any alone"
    if is_any and isinstance(getattr(node, "value", None), ast.Dict):
        yield "dictionaries of Any"
    if isinstance(node, ast.Assert):
        yield "asserts"


def test_types_say_what_values_are():
    """A name of `deciban.types` for what belongs to other packages, `object` for what is only checked or formatted."""
    counts = Counter(what for path in SOURCES for node in nodes(path) for what in untyped(node))
    assert {what: n for what, n in counts.items() if n > UNTYPED[what]} == {}


def test_what_has_no_type_is_counted():
    text = "def f(x: Any, *, y: int, **z: Any) -> Any:\n    how: Any = {'x': x}\n    assert y is not None"
    found = Counter(what for node in ast.walk(ast.parse(text)) for what in untyped(node))
    assert found == {"Any alone": 4, "dictionaries of Any": 1, "asserts": 1}


def test_no_name_stands_for_two_classes():
    """Apart from scikit-learn's estimators, which are named after the models that they train."""
    names = [
        statement.name
        for path in SOURCES
        if path.parent.name != "sklearn"
        for statement in tree(path).body
        if isinstance(statement, ast.ClassDef)
    ]
    assert sorted({name for name in names if names.count(name) > 1}) == []


def public_names():
    for module_name in PUBLIC_MODULES:
        module = importlib.import_module(module_name)
        for name in module.__all__:
            value = getattr(module, name)
            if inspect.isfunction(value) or inspect.isclass(value):
                yield f"{module_name}.{name}"


def test_modules_and_functions_stay_small():
    assert [fault for path in SOURCES for fault in too_large(path)] == []


def too_large(path):
    name = path.relative_to(ROOT)
    if (lines := code_lines(path)) > 400:
        yield f"{name} has {lines} lines of code"
    for node in nodes(path):
        if isinstance(node, ast.FunctionDef):
            body = node.body[1:] if ast.get_docstring(node) else node.body
            length = body[-1].end_lineno - body[0].lineno + 1 if body else 0
            if length > 50:
                yield f"{name}: {node.name} has a body of {length} lines"
            if len(node.args.posonlyargs + node.args.args) > 7:
                yield f"{name}: {node.name} takes too many positional arguments"


def test_every_module_says_what_it_is_for():
    names = [m.name for m in pkgutil.walk_packages(deciban.__path__, "deciban.") if "__main__" not in m.name]
    assert len(names) > 200
    modules = [importlib.import_module(name) for name in names]
    assert [module.__name__ for module in modules if not module.__doc__] == []
    named = [(module, name) for module in modules for name in getattr(module, "__all__", [])]
    assert [f"{module.__name__}.{name}" for module, name in named if not hasattr(module, name)] == []


def test_public_functions_are_documented():
    """Summary, every parameter, and what is returned; dataclasses describe their attributes instead."""
    names = set(public_names())
    assert len(names) > 200
    assert {name: lacking for name in names if (lacking := not_documented(name))} == {}


def not_documented(name):
    module_name, _, attribute = name.rpartition(".")
    wanted = {"SS01", "SS02", "RT01", "GL08"}
    if not dataclasses.is_dataclass(getattr(importlib.import_module(module_name), attribute)):
        wanted |= {"PR01", "PR02"}
    return {code: message for code, message in numpydoc.validate.validate(name)["errors"] if code in wanted}


@pytest.mark.parametrize("result", [deciban.Evaluation, deciban.ClassEvaluation])
def test_types_of_evaluations_can_be_looked_up(result):
    """Those of `Results` cannot: files are joined above, and a result only hands on what was said of that."""
    assert typing.get_type_hints(result).keys() >= {field.name for field in dataclasses.fields(result)}


def test_importing_deciban_is_light():
    """Nothing heavy is loaded before it is used; numbers need numpy and scipy only."""
    code = "import sys, {}; print(*sorted({{m.split('.')[0] for m in sys.modules}}))"

    def loaded(what):
        run = subprocess.run([sys.executable, "-c", code.format(what)], capture_output=True, text=True, check=True)
        return set(run.stdout.split())

    heavy = {"numpy", "scipy", "matplotlib", "pyarrow", "rich", "click", "jinja2"}
    assert not loaded("deciban") & heavy
    assert not loaded("deciban.metrics") & heavy
    assert loaded("deciban.metrics.scores") & heavy == {"numpy", "scipy"}
    assert loaded("deciban.cli") & heavy == {"click"}


def deciban_commands():
    from deciban.cli.main import COMMANDS

    return COMMANDS


OPTIONAL = ("pandas", "polars", "sklearn", "torch")


def loaded_by(code, folder, *words):
    """Names of the modules that a program has loaded when it ends."""
    told = "import atexit, sys; atexit.register(lambda: print(*sys.modules, file=open('loaded', 'w'))); "
    subprocess.run([sys.executable, "-c", told + code, *map(str, words)], check=True, cwd=folder, capture_output=True)
    return (folder / "loaded").read_text().split()


ARRAYS = "[1.0, 2.0, 2.0], [0.0, 1.0, -1.0]"


@pytest.mark.parametrize(
    ("code", "most"),
    [
        (f"from deciban.evaluation import evaluate; evaluate({ARRAYS})", 55),
        (f"import deciban; deciban.evaluate({ARRAYS})", 62),
        (f"import deciban; deciban.evaluate({ARRAYS}).table()", 80),
        ("import deciban; deciban.evaluate_classes([[1.0, 0.0], [0.0, 1.0]], [0, 1])", 102),
        ("import deciban; deciban.compare", 62),
    ],
)
def test_evaluating_arrays_loads_little(code, most, tmp_path):
    loaded = loaded_by(code, tmp_path)
    assert sum(name.partition(".")[0] == "deciban" for name in loaded) <= most
    assert not {"pyarrow", *OPTIONAL} & set(loaded)


def test_pages_load_plots_when_they_draw(tmp_path):
    assert "matplotlib" not in loaded_by("from deciban.report import render", tmp_path)


COMMANDS = [
    "eval scores.txt --key key.txt",
    "eval scores.txt --key key.txt --json",
    "eval classes.tsv",
    "calibrate scores.txt --key key.txt -o model.json --llrs llrs.txt",
    "fuse scores.txt second.txt --key key.txt -o fusion.json",
    "convert scores.txt scores.csv",
    "inspect scores.txt",
    "report scores.txt --key key.txt -o page.html",
]


ONE_BY_ONE = """
import shlex, sys
from deciban.cli import main

commands, unwanted = sys.argv[1:-1], sys.argv[-1].split()
for command in commands:
    sys.argv = ["deciban", *shlex.split(command)]
    try:
        main()
    except SystemExit as end:
        if end.code:
            raise
    found = [name for name in unwanted if name in sys.modules]
    if found:
        sys.exit(f"{command} imports {found}")
"""
"""Runs commands in one process, up to the first one that imports something unwanted."""


def assert_imports_none(unwanted, folder, commands):
    words = [sys.executable, "-c", ONE_BY_ONE, *commands, " ".join(unwanted)]
    run = subprocess.run(words, capture_output=True, text=True, check=False, cwd=folder)
    assert run.returncode == 0, run.stderr


def test_commands_import_no_optional_package_because_it_happens_to_be_there(tmp_path):
    write_score_files(tmp_path)
    not_by_eval = {"pyarrow.compute", "scipy.fft", "scipy.linalg", "scipy.optimize", "scipy.stats"}
    not_by_eval |= {"matplotlib", "h5py", "jsonschema", "jinja2"}
    assert_imports_none({*OPTIONAL, *not_by_eval}, tmp_path, COMMANDS[:1])
    assert_imports_none(OPTIONAL, tmp_path, COMMANDS)
    assert {path.name for path in tmp_path.iterdir()} >= {
        "model.json",
        "llrs.txt",
        "fusion.json",
        "scores.csv",
        "page.html",
    }


def test_scipy_does_not_import_all_of_numpy_in_commands(tmp_path):
    """SciPy copies all names that NumPy lists; what NumPy no longer lists is still found."""
    write_score_files(tmp_path)
    shown = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "deciban", *shlex.split(COMMANDS[0])],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    loaded = {line.rpartition("|")[2].strip() for line in shown.stderr.splitlines()}
    assert {"numpy", "scipy.special"} <= loaded
    assert not {"numpy.f2py", "numpy.testing", "numpy.random"} & loaded
    code = "from deciban._lazy import import_less_with_scipy as less; less(); import scipy.special, numpy, sys; "
    code += "print('numpy.f2py' in sys.modules, 'f2py' in dir(numpy), 'sort' in dir(numpy), numpy.f2py.__name__)"
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert told.split() == ["False", "False", "True", "numpy.f2py"]


def test_help_needs_no_numbers(tmp_path):
    heavy = {"numpy", "pyarrow", "rich", "matplotlib", "deciban.evaluation", "deciban.workflows"}
    assert_imports_none(heavy, tmp_path, ["--version", *(f"{name} --help" for name in deciban_commands())])


def depth_of(module):
    """How far down the layer of a module is."""
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    [layers] = [contract["layers"] for contract in contracts if contract["type"] == "layers"]
    [depth] = [at for at, layer in enumerate(layers) if module.split(".")[1] in layer.split(" | ")]
    return depth


LATE = sorted((ROOT / "src").rglob("__init__.pyi"))


def test_packages_with_late_names_have_a_stub():
    packages = [path for path in SOURCES if path.name == "__init__.py" and " = late(" in path.read_text()]
    assert [path.with_suffix(".pyi") for path in packages] == LATE


@pytest.mark.parametrize("path", LATE, ids=lambda path: path.parent.name)
def test_late_names_stand_once_and_come_from_below(path):
    """And no module is called like one of them: importing it would put the module in place of the name."""
    homes = [
        (node.module, name.name, name.asname)
        for node in ast.parse(path.read_text()).body
        if isinstance(node, ast.ImportFrom)
        for name in node.names
    ]
    names = [name for _, name, _ in homes]
    assert names == [seen for _, _, seen in homes]
    assert len(names) == len(set(names))

    package = importlib.import_module(".".join(path.relative_to(ROOT / "src").parts[:-1]))
    modules = {module.name for module in pkgutil.iter_modules(package.__path__)}
    assert not {name for home, name, _ in homes if home != package.__name__} & modules
    if package is not deciban:  # names come from the package itself or from below, which the linter does not see
        own, depth = f"{package.__name__}.", depth_of(package.__name__)
        assert all(home.startswith(own) or depth_of(home) > depth for home, _, _ in homes)


@pytest.mark.parametrize("path", LATE, ids=lambda path: path.parent.name)
def test_late_names_are_there(path):
    package = importlib.import_module(".".join(path.relative_to(ROOT / "src").parts[:-1]))
    assert set(dir(package)) == set(package.__all__)
    assert all(getattr(package, name) is not None for name in package.__all__)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        package.nothing


def test_top_level_names_are_there():
    for name in deciban.__all__:
        assert getattr(deciban, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        deciban.nothing
    assert set(dir(deciban)) == set(deciban.__all__)


def test_imports_by_name_are_listed_with_their_reasons():
    listed = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["deciban"]["imports-by-name"]
    made = set()
    for path in SOURCES:
        calls = [node for node in nodes(path) if isinstance(node, ast.Call)]
        if any(getattr(call.func, "attr", getattr(call.func, "id", "")) == "import_module" for call in calls):
            parts = path.relative_to(ROOT / "src").with_suffix("").parts
            made.add(".".join(parts[:-1] if parts[-1] == "__init__" else parts))
    assert set(listed) == made
    assert all(listed.values())


FACADES = {
    "deciban.analysis.systems.select_systems",
    "deciban.metrics.intervals.interval",
    *("deciban.analysis.planning.plan", "deciban.workflows.comparing.plan_files"),
    *("deciban.analysis.fusion.analyse_fusion", "deciban.calibration.cross.cross_validated"),
    *("deciban.evaluation.multiclass.evaluate.evaluate_classes",),
    "deciban.io.reader.read_scores",
    "deciban.io.reader.read_contents",
    *("deciban.io.writing.convert", "deciban.io.validation.validate", "deciban.trials.frames.scores_from"),
    *("deciban.losses.rules.scoring_rule_cost", "deciban.losses.rules.scoring_rule_cost_and_gradient"),
    *("deciban.metrics.costs.act_dcf", "deciban.metrics.costs.min_dcf", "deciban.metrics.costs.scoring_rule_cost"),
    *("deciban.metrics.costs.min_scoring_rule_cost", "deciban.metrics.scores.min_dcf_threshold"),
    *(
        "deciban.sklearn.estimators.dcf",
        "deciban.sklearn.estimators.min_dcf",
        "deciban.workflows.evaluate.evaluate_files",
    ),
    "deciban.workflows.deciding.decide_files",
    *("deciban.workflows.apply.apply_files", "deciban.workflows.train.train_files"),
    *("deciban.workflows.apply.normalize_files", "deciban.workflows.spoofing.fusion.fuse_spoofing_files"),
    *("deciban.report.files.report_files", "deciban.report.files.render"),
    *("deciban.workflows.arrays.evaluate", "deciban.evaluation.two_class.evaluate.evaluate"),
    *("deciban.workflows.arrays.calibrate", "deciban.workflows.arrays.fuse"),
    *("deciban.spoofing.tandem.min_t_dcf", "deciban.spoofing.tandem.act_t_dcf", "deciban.spoofing.tandem.t_dcf_curve"),
    *("deciban.biometrics.groups.differential", "deciban.multiclass.analysis.ece"),
    *("deciban.spoofing.sasv.min_a_dcf", "deciban.spoofing.sasv.act_a_dcf", "deciban.spoofing.sasv.min_tandem_a_dcf"),
    *("deciban.spoofing.sasv.min_cascade_a_dcf", "deciban.spoofing.sasv.a_dcf_surface"),
    "deciban.workflows.comparing.compare_files",
}
"""Functions that users call with keyword arguments, which they may take many of."""

OPTIMIZERS = {"deciban.core.training.linear_training.train", "deciban.core.training.trust_region.minimize"}
"""Functions of numbers alone, whose settings have names of their own in the literature."""


def test_only_facades_take_many_arguments():
    """What a user says travels whole: seven arguments are enough below."""
    wide = set()
    for path in SOURCES:
        module = ".".join(path.relative_to(ROOT / "src").with_suffix("").parts).removesuffix(".__init__")
        for node in nodes(path):
            if isinstance(node, ast.FunctionDef) and node.name != "__init__":
                own = [one.arg for one in node.args.posonlyargs + node.args.args if one.arg not in ("self", "cls")]
                if len(own) + len(node.args.kwonlyargs) > 7:
                    wide.add(f"{module}.{node.name}")
    assert wide == FACADES | OPTIMIZERS
