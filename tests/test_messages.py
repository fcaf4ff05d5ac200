"""Messages are data until they are printed."""

from deciban.messages import Message


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
