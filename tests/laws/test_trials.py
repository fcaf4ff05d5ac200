"""Laws of tables of trials: storage, order and path of look-up change no answer, and a naive join gives the same."""

from collections import Counter
from unittest import mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deciban import InputError, KeyMismatchError
from deciban.trials import ClassKey, ClassScores, IdMap, Index, Key, Scores, Trials, align, align_classes, merge, stack
from deciban.trials import lists as lookup
from support import joins

PATHS = {"table": 10**9, "sorted": 0}
policies = st.sampled_from(["error", "drop", -7.0, np.inf])


def forced(path):
    return mock.patch.object(lookup, "_SPARSEST_TABLE", PATHS[path])


def content(table):
    """Everything that a table says, trial by trial."""
    value = [None] * len(table) if table.content is None else np.asarray(table.content).tolist()
    conditions = [column.to_pylist() for column in table.trials.conditions.values()]
    return list(zip(joins.listed(table.trials), value, *conditions, strict=True))


def outcome(call, *arguments):
    """What a call returns, or the kind and text of the error it raises."""
    try:
        return content(call(*arguments))
    except (InputError, KeyMismatchError) as error:
        return type(error), str(error)


def tables(grid, flat):
    """The same scores, keys and indexes, stored as a grid and as a list."""
    score = np.arange(len(grid)) / 4
    for trials in (grid, flat):
        yield Scores(trials, score), Key(trials, score % 0.5 == 0), Index(trials)


@given(joins.grids(), st.data())
def test_a_grid_and_a_list_are_the_same_trials(both, data):
    grid, flat = both
    assert len(grid) == len(flat)
    assert joins.listed(grid) == joins.listed(flat)
    rows = data.draw(st.lists(st.integers(0, len(grid) - 1)))
    name = data.draw(st.sampled_from([*flat.names[0].to_pylist(), "nobody"]))
    other = data.draw(st.sampled_from([*flat.names[1].to_pylist(), "nobody"]))
    new = {n: data.draw(joins.names) for n in flat.names[0].to_pylist() if data.draw(st.booleans())}
    unknown = data.draw(st.sampled_from(["error", "keep", "drop"]))
    operations = [
        lambda table: table.take(np.array(rows, np.int64)),
        lambda table: table.keep(enroll=[name]),
        lambda table: table.keep(enroll=name, test=other),
        lambda table: table.drop(enroll=[name], test=[other]),
        lambda table: table.keep(where={"group": "x"}),
        lambda table: table.drop(where={"group": ["x"]}),
        lambda table: table.rename(IdMap.of(new), "enroll", unknown=unknown),
        lambda table: merge([table, table], duplicates="keep-one"),
    ]
    one, same = data.draw(st.sampled_from(list(zip(*tables(grid, flat), strict=True))))
    for operation in operations:
        assert outcome(operation, one) == outcome(operation, same)
    for by in ("enroll", "test", "group"):
        split = [{value: content(part) for value, part in table.split(by).items()} for table in (one, same)]
        assert split[0] == split[1]
        assert list(split[0]) == list(split[1])


@given(joins.grids())
def test_grids_and_lists_describe_one_another(both):
    grid, flat = both
    for side in ("enroll", "test"):
        assert grid.column(side).to_pylist() == flat.column(side).to_pylist()
    assert [grid.name_of(row) for row in range(len(grid))] == [flat.name_of(row) for row in range(len(flat))]
    assert joins.listed(flat.densest()) == joins.listed(flat)
    assert flat.densest().listed is None or grid.mask is not None
    assert grid.codes_in(flat).tolist() == flat.codes_in(flat).tolist()
    assert grid.codes_in(grid).tolist() == flat.codes_in(grid).tolist()
    assert grid.as_grid() == (grid, None)


@given(joins.grids(), st.randoms(use_true_random=False))
def test_a_list_finds_its_cells(both, random):
    order = list(range(len(both[1])))
    random.shuffle(order)
    shuffled = both[1].take(np.array(order))
    grid, cells = shuffled.as_grid()
    row_of_cell = np.full(grid.n_possible, -1)
    row_of_cell[slice(None) if grid.mask is None else grid.mask.ravel()] = np.arange(len(grid))
    rows = np.arange(len(grid)) if cells is None else row_of_cell[cells]
    assert [joins.listed(grid)[row] for row in rows] == joins.listed(shuffled)


@given(joins.grids(), joins.grids(), st.sampled_from(sorted(PATHS)), st.booleans(), st.booleans(), policies)
def test_a_join_does_not_see_how_trials_are_stored(scored, keyed, path, as_list, key_as_list, missing):
    score = np.arange(len(scored[0])) / 4
    with forced(path):
        expected = outcome(lambda: align(Scores(scored[1], score), Index(keyed[1]), missing).scores)
        scores, index = Scores(scored[as_list], score), Index(keyed[key_as_list])
        assert outcome(lambda: align(scores, index, missing).scores) == expected
        if isinstance(expected, list):
            assert align(scores, index, missing).report == align(Scores(scored[1], score), index, missing).report


trial_lists = st.one_of(st.lists(joins.pairs, min_size=1, max_size=12), st.lists(joins.sided, min_size=1, max_size=12))
values = st.sampled_from([0.0, 1.0, -np.inf])


@given(trial_lists, st.data(), policies, st.booleans(), st.sampled_from(sorted(PATHS)))
def test_align_is_a_dictionary_look_up(trials, data, missing, keep_one, path):
    """Copies, conflicts, missing and extra trials in any number, whichever way they are looked up."""
    sides = ("enroll", "test", "side")[: len(trials[0])]
    more = st.lists(st.sampled_from(trials), min_size=1, max_size=12)
    key = [(trial, data.draw(st.booleans()) if keep_one else True) for trial in data.draw(more)]
    strangers = st.lists(joins.pairs if len(sides) == 2 else joins.sided, max_size=3)
    scores = [(trial, data.draw(values)) for trial in [*data.draw(more), *data.draw(strangers)]]
    given_scores = Scores(joins.trials_of([t for t, _ in scores], sides), np.array([s for _, s in scores]))
    index = Key(joins.trials_of([t for t, _ in key], sides), np.array([truth for _, truth in key]))
    duplicates = "keep-one" if keep_one else "error"
    try:
        expected = joins.join(scores, key, missing, keep_one=keep_one)
    except joins.ConflictError:
        message = "has two different scores|is target and non-target at once"
    except joins.CopyError:
        message = "occurs more than once"
    except joins.LackError:
        message = "have no score in|share no trial"
    else:
        message = None if len(set(expected.truth)) == 2 else "no (non-)?target trial among"
    with forced(path):
        if message is not None:
            with pytest.raises(KeyMismatchError, match=message):
                align(given_scores, index, missing, duplicates=duplicates)
            if not message.startswith("no "):
                return
            index = Index(index.trials)
        aligned = align(given_scores, index, missing, duplicates=duplicates)
    report = aligned.report
    assert joins.listed(aligned.trials) == expected.trials
    assert aligned.score.tolist() == expected.score
    assert (report.matched, report.missing, report.extra, report.duplicate) == expected.counts
    assert aligned.is_target is None or aligned.is_target.tolist() == expected.truth


@given(st.lists(joins.pairs, min_size=1, max_size=12, unique=True), st.randoms(use_true_random=False))
def test_the_order_of_the_scores_does_not_matter(trials, random):
    index = Index(joins.trials_of(trials))
    scores = Scores(index.trials, np.arange(len(trials)) / 4)
    order = list(range(len(trials)))
    random.shuffle(order)
    for path in PATHS:
        with forced(path):
            assert content(align(scores.take(np.array(order)), index).scores) == content(scores)


@given(joins.grids(), st.sampled_from(["enroll", "test", "group"]), st.booleans())
def test_split_then_merge_is_the_same_set(both, by, as_list):
    for table in list(tables(*both))[as_list]:
        parts = list(table.split(by).values())
        assert sum(len(part) for part in parts) == len(table)
        assert Counter(content(merge(parts))) == Counter(content(table))


@given(joins.grids(), st.booleans(), st.data())
def test_a_renaming_and_its_reverse_change_nothing(both, as_list, data):
    for table in list(tables(*both))[as_list]:
        old = table.trials.names[1].to_pylist()
        new = data.draw(st.lists(joins.names, min_size=len(old), max_size=len(old), unique=True))
        there, back = IdMap.of(dict(zip(old, new, strict=True))), IdMap.of(dict(zip(new, old, strict=True)))
        renamed = table.rename(there, "test")
        map_of = dict(zip(old, new, strict=True))
        assert joins.listed(renamed.trials) == [(a, map_of[b]) for a, b in joins.listed(table.trials)]
        assert content(renamed.rename(back, "test")) == content(table)


@given(joins.grids(), st.booleans(), st.data())
def test_conditions_follow_their_trials(both, as_list, data):
    """A condition that is the name of its trial stays so, whatever is done."""
    trials = both[as_list]
    named = ["/".join(trial) for trial in joins.listed(trials)]
    trials = Trials(trials.sides, trials.names, trials.listed, trials.mask, conditions=trials_condition(named))
    table = Scores(trials, np.arange(len(trials)) / 4)
    rows = np.array(data.draw(st.lists(st.integers(0, len(table) - 1), min_size=1, unique=True)))
    some = table.take(rows)
    results = [
        some,
        *table.split("enroll").values(),
        merge([some, table], duplicates="keep-one"),
        align(table, Index(some.trials)).scores,
        align(some, Index(table.trials), "drop").scores,
    ]
    for result in results:
        assert ["/".join(trial) for trial in joins.listed(result.trials)] == result.trials.condition("id").to_pylist()


def trials_condition(values):
    return joins.trials_of([("x",)] * len(values), ("trial",), conditions={"id": values}).conditions


@given(st.lists(st.lists(joins.pairs, min_size=1, max_size=8, unique=True), min_size=1, max_size=3))
def test_a_stack_holds_what_all_systems_scored(lists):
    number = {trial: at for at, trial in enumerate({trial: None for trials in lists for trial in trials})}
    systems = [
        Scores(joins.trials_of(trials), np.array([number[trial] for trial in trials]) + 0.5 * i)
        for i, trials in enumerate(lists)
    ]
    common = [trial for trial in lists[0] if all(trial in trials for trials in lists)]
    if not common:
        with pytest.raises(KeyMismatchError, match="share no trial|nothing is left|has a score in each"):
            stack(systems, missing="drop")
        return
    stacked = stack(systems, missing="drop")
    assert joins.listed(stacked.trials) == common
    assert stacked.score.tolist() == [[number[t] + 0.5 * i for i in range(len(lists))] for t in common]
    if any(set(trials) != set(lists[0]) for trials in lists):
        with pytest.raises(KeyMismatchError, match="have no score in"):
            stack(systems)
    else:
        assert stack(systems).score.tolist() == stacked.score.tolist()


@given(st.permutations(["cat", "dog", "emu"]), st.permutations(["cat", "dog", "emu"]), st.data())
def test_classes_are_matched_by_name(scored, keyed, data):
    segments = data.draw(st.lists(joins.names, min_size=1, max_size=6, unique=True))
    truth = [data.draw(st.sampled_from(scored)) for _ in segments]
    matrix = np.arange(3.0 * len(segments)).reshape(-1, 3)
    order = data.draw(st.permutations(range(len(segments))))
    key = ClassKey.of({"trial": [segments[i] for i in order]}, [truth[i] for i in order], classes=keyed)
    aligned = align_classes(ClassScores.of({"trial": segments}, scored, matrix), key)
    assert aligned.classes == tuple(scored)
    assert [aligned.classes[at] for at in aligned.label] == [truth[i] for i in order]
    assert aligned.score.tolist() == matrix[order].tolist()


@given(st.lists(st.integers(-1, 20)), st.sampled_from([21, 2**62]), st.integers(1, 9))
def test_codes_are_ordered_with_their_rows(codes, n_possible, chunk):
    """Packed into one integer, chunk by chunk, or by ``argsort`` where that has no room."""
    before, lookup._BATCH = lookup._BATCH, chunk
    try:
        ordered = lookup.in_order(np.array(codes, np.int64), n_possible)
    finally:
        lookup._BATCH = before
    assert list(zip(ordered.codes, ordered.rows, strict=True)) == sorted(zip(codes, range(len(codes)), strict=True))
    wanted = np.array(sorted(set(codes) | {3, 7}), np.int64)
    place = lookup.place_in(wanted, ordered.codes)
    first = {code: at for at, code in reversed(list(enumerate(sorted(codes))))}
    assert place.tolist() == [first.get(code, -1) for code in wanted]
