"""Messages are data until they are printed."""

import copy
import pickle
import shlex
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from deciban import evaluate
from deciban.errors import Message, Note, command_spelling, either, option, topic_of


def test_lines_begin_with_the_kind_in_a_column_of_its_own():
    assert str(Message("key", "k.txt", "2 target")) == "key   k.txt   2 target"
    assert str(Message("wrote", "", "model.json")) == "wrote  model.json"


def test_messages_compare_by_what_they_say():
    assert Message("note", "a", "b") == Message("note", "a", "b") != Message("note", "a", "c")


def test_long_lists_are_cut_and_counted_in_lines_only():
    counts = [f"{k + 1} lang{k}" for k in range(1000)]
    message = Message("key", "key.txt", "tsv   " + " · ".join(counts))
    assert str(message).endswith(f"{counts[8]} · {counts[9]} · 990 more")
    assert str(message).startswith("key   key.txt   tsv   1 lang0 · ")
    assert message.to_dict()["text"].endswith("1000 lang999")
    few = Message("key", "key.txt", " · ".join(counts[:20]))
    assert str(few).endswith("20 lang19")


def test_notes_keep_their_topic_in_copies():
    note = Note("All scores lie in [0, 1]", "no-llrs")
    for one in (copy.deepcopy(note), pickle.loads(pickle.dumps(note))):  # noqa: S301
        assert one == "All scores lie in [0, 1]"
        assert topic_of(one) == "no-llrs"
    assert topic_of("All scores lie in [0, 1]") == ""


def test_notes_on_results_have_a_topic():
    rng = np.random.default_rng(1)
    tar, non = rng.normal(2, 2, 200), rng.normal(-2, 2, 200)

    def topics(tar, non):
        return {topic_of(note) for note in evaluate(tar, non).notes} - {"", "few-errors"}

    assert topics(np.exp(tar), np.exp(non)) == {"ratios"}
    assert topics(1 / (1 + np.exp(-tar)), 1 / (1 + np.exp(-non))) == {"no-llrs"}
    assert topics(50 * tar, 50 * non) == {"no-llrs"}
    assert topics(tar + 3, non + 3) == {"calibration"}


def test_arguments_in_texts_are_python():
    """The text between the parentheses of a call is what the user has to write."""
    values = {"by_order": True, "intervals": False, "ridge": 0.5, "missing": "drop", "classes": ["cat", "it's"]}
    values |= {"labels": {"target": "a|b", "nontarget": 'c"d'}, "worst": np.int64(3), "where": ...}
    assert eval(f"dict({option(**values)})") == {**values, "worst": "3"}  # noqa: S307
    assert option("memory", "scores") == "memory, scores"


def test_options_in_texts_are_words_for_a_shell():
    values = {"by_order": True, "intervals": False, "ridge": 0.5, "missing": "drop", "classes": ["cat", "it's"]}
    values |= {"labels": {"target": "a|b", "nontarget": "c d"}, "test_scores": ..., "operating_points": 0.01}
    with command_spelling():
        words = shlex.split(option(**values))
        assert option("memory", "scores") == "--memory, --scores-are"
    assert words[:8] == ["--by-order", "--no-intervals", "--ridge", "0.5", "--missing", "drop", "--classes", "cat,it's"]
    assert words[8:] == ["--labels", "target=a|b,nontarget=c d", "--apply-to", "--dcf", "0.01"]


def test_all_threads_of_a_command_spell_like_it_until_it_ends():
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(option, "units").result() == "units"
        with command_spelling(), command_spelling(used=False):
            with command_spelling():
                pass
            assert pool.submit(option, "units").result() == "--units"
            assert pool.submit(either, "a", "b").result() == "b"
        assert pool.submit(option, "units").result() == "units"
        assert pool.submit(either, "a", "b").result() == "a"
