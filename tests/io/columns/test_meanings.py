"""What columns mean that no known word names."""

import pytest

from deciban._validate.arrays import Vocabulary
from deciban.io.columns.headers import (
    Titles,
    counts_columns,
    fits_label,
    plain_word,
    roles_of,
    without_other_numbers,
    words_of_columns,
)

KNOWN = Vocabulary.of(None)


def titles(headers, numeric, words=(), vocabulary=KNOWN):
    return Titles(headers, numeric, lambda _: words, vocabulary)


def scores_among(*headers, numeric=None):
    table = titles(headers, numeric or [header != "text" for header in headers])
    roles = table.with_only_score(roles_of(headers, ""))
    return [header for header, role in zip(headers, roles, strict=True) if role == "score"]


HEADERS = (
    *("prob", "proba", "probability", "p", "pred", "prediction", "y_pred", "y_hat", "logit", "logits", "similarity"),
    *("sim", "cosine", "distance", "confidence", "output", "decision", "my_system"),
)


@pytest.mark.parametrize("header", HEADERS)
def test_the_only_numbers_beside_a_label_are_scores(header):
    assert scores_among("label", header) == [header]
    assert scores_among("utt", "label", header, "text") == [header]


@pytest.mark.parametrize("row_name", ["index", "id", "Unnamed: 0", "__index_level_0__", "file_id", "idx"])
def test_numbers_of_rows_are_no_scores(row_name):
    assert scores_among("label", row_name) == []
    assert scores_among("label", row_name, "prob") == ["prob"]


def test_measures_of_named_trials_are_no_scores():
    assert scores_among("enroll", "test", "label", "duration") == []
    assert scores_among("utt", "label", "snr_db") == []
    assert scores_among("utt", "label", "snr_db", "sim") == ["sim"]
    assert scores_among("label", "age") == ["age"]


def test_two_numbers_are_not_guessed_and_known_scores_stay():
    assert scores_among("label", "prob", "logit") == []
    assert scores_among("label", "prob", "score") == ["score"]
    assert scores_among("prob", "logit") == []


def names(headers, words):
    numeric = [header not in ("label", "utt", "enroll", "test") for header in headers]
    return titles(headers, numeric, words).label_names_classes(roles_of(headers, ""))


@pytest.mark.parametrize(
    ("headers", "words", "expected"),
    [
        (["c_0", "c_1", "c_2", "label"], ["0", "1"], True),  # sorted by label: the other numbers come later
        (["a", "b", "c", "label"], ["2", "0"], True),
        (["a", "b", "c", "label"], ["a"], True),
        (["p_cat", "p_dog", "label"], ["cat", "dog"], True),
        (["a", "b", "c", "label"], ["0", "1"], False),
        (["age", "snr", "len", "label"], ["yup", "nope"], False),
        (["a_llr", "b_llr", "c_llr", "label"], ["target", "nontarget"], False),
        (["p_0", "p_1", "label"], ["0", "1"], False),
        (["prob", "label"], ["2", "3", "4"], False),
        (["utt", "label"], ["eng", "fra", "deu"], True),
        (["enroll", "test", "label"], ["x", "y", "z"], None),
        (["a", "b", "c", "class"], ["0", "1", "2"], None),
    ],
)
def test_a_label_names_classes_or_targets(headers, words, expected):
    assert names(headers, words) is expected


def test_words_of_the_user_name_targets():
    headers = ["a", "b", "c", "label"]
    words = Vocabulary.of({"target": "a", "nontarget": "b|c"})
    table = titles(headers, [True] * 3 + [False], ["a", "b", "c"], words)
    assert table.label_names_classes(roles_of(headers, "")) is False


def test_scores_of_classes_may_have_another_key():
    roles = ["trial", "score", "score", "label"]
    assert [fits_label(kind, roles, False) for kind in ("scores", "key", "class-scores", "class-key")] == [
        True,
        True,
        True,
        False,
    ]


@pytest.mark.parametrize(
    ("columns", "short"),
    [
        (["class_0", "class_1", "class_2"], ["0", "1", "2"]),
        ([f"class_{at}" for at in range(10, 0, -1)], [str(at) for at in range(10, 0, -1)]),
        (["p_cat", "p_car"], ["cat", "car"]),
        (["cat_prob", "dog_prob"], ["cat", "dog"]),
        (["cat", "car"], ["cat", "car"]),
    ],
)
def test_words_without_what_columns_share(columns, short):
    found = words_of_columns(columns, in_order=False)
    assert [found[name] for name in columns] == [found[name] for name in short] == list(range(len(columns)))


def test_numbers_in_order_only_where_no_column_is_a_number():
    assert words_of_columns(["a", "b"], in_order=True)["1"] == 1
    assert words_of_columns(["p1", "p2", "p3"], in_order=True) == {"p1": 0, "p2": 1, "p3": 2, "1": 0, "2": 1, "3": 2}


def test_other_numbers_stay_only_where_no_columns_are_numbered():
    assert without_other_numbers(["score"] * 3 + ["class"], ["a", "b", "c", "label"])[:3] == ("score",) * 3
    assert counts_columns(["1", "2", "3"])
    assert not counts_columns(["1", "3"])
    assert [plain_word(word) for word in ("3.0", "3", "3.5", "x.0")] == ["3", "3", "3.5", "x.0"]


def of_class(words, *headers):
    return titles(headers, [True] * len(headers), words).labelled(roles_of(headers, ""))


def test_a_column_of_classes_is_the_label_of_the_only_scores_where_its_words_are_labels():
    assert of_class(["0", "1"], "class", "logit") == ("label", "score")
    assert of_class(["0", "1"], "utt", "class", "logit", "duration") == ("trial", "label", "score", "=duration")


@pytest.mark.parametrize(
    ("words", "headers"),
    [
        (["0", "1", "2"], ("class", "logit")),
        (["0"], ("class", "logit")),
        (["0", "1"], ("class", "a", "b")),
        (["0", "1"], ("utt", "class")),
    ],
)
def test_other_columns_of_classes_stay(words, headers):
    assert "label" not in of_class(words, *headers)


@pytest.mark.parametrize(
    ("columns", "are_classes"),
    [
        (("class_0", "class_1"), True),
        (("prob_class_0", "prob_class_1"), True),
        (("sys_0", "sys_1"), False),
        (("class_1", "class_2"), False),
    ],
)
def test_two_columns_that_are_called_by_classes_0_and_1_are_their_scores(columns, are_classes):
    headers = (*columns, "label")
    found = titles(headers, [True] * 3, ["0", "1"]).label_names_classes(roles_of(headers, ""))
    assert found is are_classes
