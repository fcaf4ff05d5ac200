"""Messages are data until they are printed."""

from deciban.messages import Message


def test_lines_begin_with_the_kind_in_a_column_of_its_own():
    assert str(Message("key", "k.txt", "2 target")) == "key   k.txt   2 target"
    assert str(Message("wrote", "", "model.json")) == "wrote  model.json"


def test_messages_compare_by_what_they_say():
    assert Message("note", "a", "b") == Message("note", "a", "b") != Message("note", "a", "c")
