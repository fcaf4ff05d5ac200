"""Every module has a test module of its name in the mirrored place, or a named one that tests it from above."""

import ast
from collections import deque
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCE, TESTS = ROOT / "src" / "deciban", ROOT / "tests"

# Modules without tests of their own, by the test module that runs them through what they are made for.
FROM_ABOVE = {
    "workflows/test_conditions_of_sources.py": ["engines/conditions.py", "engines/stratified_units.py"],
    "report/answers/test_questions.py": ["report/answers/answer.py"],
    "multiclass/test_infimum.py": ["multiclass/open_trials.py"],
    "engines/test_dask.py": ["engines/dask_clusters.py"],
    "architecture/test_house.py": ["_lazy.py"],
    "calibration/test_cross.py": ["calibration/folds.py"],
    "core/classes/test_loglik.py": ["core/classes/counts.py"],
    "core/training/test_linear_training.py": ["core/training/linear_objective.py", "core/training/linear_trials.py"],
    "core/training/test_multiclass_objective.py": ["core/training/class_trials.py"],
    "decisions/test_probabilities.py": ["_validate/probabilities.py", "core/posteriors.py"],
    "e2e/test_likelihood_ratios.py": ["_validate/ratios.py"],
    "engines/test_class_counting.py": [
        "engines/class_problems.py",
        "evaluation/multiclass/problem_sums.py",
        "models/class_calibration.py",
        "models/class_limits.py",
    ],
    "engines/test_class_units.py": ["engines/grouped.py"],
    "engines/test_counting.py": ["engines/threads.py", "engines/work.py", "io/shards/pieces.py"],
    "fusion/test_quality.py": ["fusion/quality_measures.py", "fusion/quality_terms.py"],
    "fusion/test_linear.py": ["models/labelled.py", "models/score_model.py", "models/two_class.py"],
    "fusion/test_union_hull.py": ["fusion/hull_vertices.py"],
    "io/formats/test_arrow.py": ["io/columns/columnar.py"],
    "io/formats/test_asvspoof2019.py": ["io/formats/asvspoof.py"],
    "io/formats/test_bosaris_mat.py": [
        "io/library_errors.py",
        "io/matrices/from_tables.py",
        "io/matrices/matlab5.py",
        "io/matrices/matlab73.py",
        "io/matrices/named_matrix.py",
        "io/matrices/to_tables.py",
    ],
    "io/formats/test_dca_plda.py": ["io/formats/root_matrices.py"],
    "io/formats/test_npy.py": ["io/arrays/checked.py"],
    "io/formats/test_npz.py": ["io/arrays/npz_reader.py"],
    "io/formats/test_table.py": ["io/contents.py"],
    "io/shards/test_files.py": ["io/shards/rows.py"],
    "io/shards/test_inputs.py": ["io/shards/objects.py", "io/shards/text.py"],
    "io/shards/test_matrices.py": ["io/shards/cells.py", "io/shards/matrix_files.py", "io/shards/matrix_rows.py"],
    "io/shards/test_opening.py": [
        "io/shards/beside.py",
        "io/shards/how.py",
        "io/shards/joining.py",
        "io/shards/layout.py",
        "io/shards/meaning.py",
        "io/shards/named_rows.py",
        "io/shards/speakers.py",
        "io/shards/truth.py",
        "io/shards/units.py",
    ],
    "io/matrices/test_hostile_hdf5.py": [
        "io/matrices/hdf5.py",
        "io/matrices/hdf5_arrays.py",
        "io/matrices/hdf5_chunks.py",
    ],
    "io/test_read.py": ["io/columns/headers.py"],
    "io/test_source.py": ["io/packing.py", "io/writing.py"],
    "io/test_convert_in_pieces.py": ["io/shards/contents.py"],
    "io/text/test_fast_reader.py": ["io/text/reader.py"],
    "io/text/test_finding.py": ["io/text/row_names.py"],
    "io/text/test_ways.py": ["io/text/undecided.py"],
    "io/text/test_writer.py": ["io/text/columns.py"],
    "cli/test_commands.py": ["io/synthetic.py"],
    "laws/test_metrics.py": [
        "core/ranks/hull.py",
        "metrics/costs.py",
        "metrics/ranks.py",
        "metrics/rules.py",
        "metrics/scores.py",
    ],
    "losses/test_rules.py": ["losses/terms.py"],
    "metrics/test_thresholds.py": ["core/ranks/thresholds.py"],
    "metrics/test_hostile.py": ["_validate/arrays.py", "_validate/mistaken.py", "errors.py"],
    "rules/test_delivered.py": ["rules/channels.py"],
    "rules/test_scoring.py": [
        "decisions/expected.py",
        "rules/decisions.py",
        "rules/families.py",
        "rules/weightings.py",
    ],
    "models/test_class_sources.py": [
        "calibration/multiclass/feature_looks.py",
        "core/training/class_parts.py",
        "models/labelled_classes.py",
    ],
    "models/test_sources.py": [
        "core/training/linear_parts.py",
        "core/training/looks_at_parts.py",
        "core/training/verdicts.py",
        "engines/looking.py",
        "models/told_elsewhere.py",
    ],
    "models/test_loading.py": ["_version.py", "models/model.py"],
    "multiclass/test_detection.py": ["multiclass/decision_errors.py", "multiclass/tables.py"],
    "multiclass/test_hostile.py": ["_validate/classes.py"],
    "multiclass/test_scoring_rules.py": ["core/rules/dirichlet.py"],
    "multiclass/test_subsets.py": ["core/classes/subsets.py"],
    "plots/multiclass/test_ape.py": ["plots/multiclass/cells.py", "plots/multiclass/detectors.py"],
    "report/test_comparison.py": ["report/model_card.py"],
    "sklearn_api/test_calibrators.py": ["sklearn/estimator.py"],
    "sklearn_api/multiclass/test_calibrators.py": ["sklearn/multiclass/estimator.py"],
    "trials/frames/test_frames.py": [
        "trials/frames/columns.py",
        "trials/frames/from_frames.py",
        "trials/frames/to_frames.py",
    ],
    "trials/joining/test_join.py": ["trials/joining/matching.py"],
    "trials/joining/test_union.py": ["trials/joining/append.py"],
    "trials/names/test_names.py": ["trials/names/codes.py", "trials/names/fingerprints.py"],
    "trials/test_lists.py": ["trials/origins.py"],
    "trials/test_tables.py": ["trials/criteria.py"],
    "engines/test_weighted.py": ["core/ranks/kept_scores.py", "engines/by_class.py"],
}

NO_LOGIC = ["types.py"]
"""Other names of what is elsewhere."""

ANY_OF_THE_FOLDER = ("analysis", "cli", "evaluation", "workflows")
"""Folders whose tests are by topic: some test module of these folders must reach each of their modules."""


def is_module(path):
    return path.name not in ("__init__.py", "__main__.py")


def mirror(module):
    """Where the tests of a module are: `tests/sklearn` would be taken for scikit-learn."""
    folder = Path("sklearn_api", *module.parts[1:-1]) if module.parts[0] == "sklearn" else module.parent
    return folder / f"test_{module.stem.lstrip('_')}.py"


MODULES = sorted(path.relative_to(SOURCE) for path in SOURCE.rglob("*.py") if is_module(path))
ABOVE = {module: test for test, modules in FROM_ABOVE.items() for module in modules}


@cache
def places():
    """The file of each module, packages and what tests share among them, by its dotted name."""
    found = {}
    for path in (*SOURCE.rglob("*.py"), *(TESTS / "support").rglob("*.py")):
        parts = path.relative_to(SOURCE.parent if SOURCE in path.parents else TESTS).with_suffix("").parts
        found[".".join(parts).removesuffix(".__init__")] = path
    return found


@cache
def named(path):
    """Modules of deciban that a file imports, anywhere in it, or names in a string that is imported late."""
    found = set()
    stub = path.with_suffix(".pyi")
    for node in ast.walk(ast.parse(path.read_text() + (stub.read_text() if stub.exists() else ""))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module} | {f"{node.module}.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.startswith("deciban"):
            found.add(node.value.partition(":")[0])
        elif isinstance(node, ast.Constant) and node.value == "formats.toml":  # a table of functions of all it holds
            found |= {name for name, place in places().items() if place.parent == path.parent}
    return found & places().keys()


@cache
def reached(test):
    """Files that a test module imports, or that these import."""
    found, ahead = set(), deque([test])
    while ahead:
        for name in named(ahead.popleft()):
            path = places()[name]
            if path not in found:
                found.add(path)
                ahead.append(path)
    return found


def test_every_module_has_its_test_module():
    faults = [fault for module in MODULES if (fault := not_tested(module))]
    assert not faults, "\n".join(faults)


def not_tested(module):
    name = module.as_posix()
    if name in NO_LOGIC or (TESTS / mirror(module)).exists():
        return None
    if module.parts[0] in ANY_OF_THE_FOLDER and name not in ABOVE:
        tests = (test for folder in ANY_OF_THE_FOLDER for test in (TESTS / folder).rglob("test_*.py"))
        found = any(SOURCE / module in reached(test) for test in tests)
        return None if found else f"no test of these folders reaches {name}"
    if name not in ABOVE:
        return f"tests/{mirror(module)} is not there: write it, or say in FROM_ABOVE what tests {name}"
    return None if SOURCE / module in reached(TESTS / ABOVE[name]) else f"tests/{ABOVE[name]} does not reach {name}"


def test_what_tests_from_above_is_there_and_needed():
    for module, test in ABOVE.items():
        assert (TESTS / test).is_file(), test
        assert (SOURCE / module).is_file(), module
        assert not (TESTS / mirror(Path(module))).exists(), f"{module} has a test module of its own"
    assert len(ABOVE) == sum(map(len, FROM_ABOVE.values()))
    for module in NO_LOGIC:
        tree = ast.parse((SOURCE / module).read_text())
        assert not [node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name != "__getattr__"]
