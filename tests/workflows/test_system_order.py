"""Which file is which system: by name, by order, or refused."""

import pytest

from deciban import InputError
from deciban.workflows.model_files import order_of_training, refuse_twice, require_same_places


@pytest.mark.parametrize(
    ("given", "trained", "order", "said"),
    [
        ("a b c", "a b c", [0, 1, 2], None),
        ("c a b", "a b c", [1, 2, 0], "in the order of training, by their names: a, b, c"),
        ("x y z", "a b c", [0, 1, 2], "in the order given: x as a, y as b, z as c"),
        ("a y c", "a b c", [0, 1, 2], "in the order given: y as b"),
        ("c x a b", "a b", [2, 3], "not part of the fusion: c, x"),
    ],
)
def test_names_decide_where_they_fit_and_else_the_order(given, trained, order, said):
    found, facts = order_of_training(given.split(), trained.split(), len(trained.split()))
    assert found == order
    assert [given.split()[k] for k in found] == trained.split() or sorted(found) == found
    assert not facts if said is None else said in str(facts[0])


@pytest.mark.parametrize(
    ("given", "trained", "n_systems", "words"),
    [
        ("a", "a b", 2, r"1 system \(a\), but the fusion was trained on 2 \(a, b\)"),
        ("a c x", "a b", 2, r"3 systems \(a, c, x\), but the fusion was trained on 2 \(a, b\)"),
        ("a b", "", 3, r"2 systems \(a, b\), but the fusion was trained on 3\. Give"),
        ("b x", "a b", 2, r"b is system 2 of the fusion, but was given as number 1"),
    ],
)
def test_what_nobody_could_know_is_refused(given, trained, n_systems, words):
    with pytest.raises(InputError, match=words):
        order_of_training(given.split(), trained.split(), n_systems)


def test_a_model_that_knows_no_names_takes_the_order():
    order, facts = order_of_training(["x", "y"], [], 2)
    assert order == [0, 1]
    assert "their names in training are unknown" in str(facts[0])


def test_training_and_test_name_one_system_alike():
    require_same_places("abc", "abc")
    require_same_places("abc", "xyz")
    require_same_places("abc", "xbz")
    for tested in ("cab", "xay", "bxx"):
        with pytest.raises(InputError, match=r"in the given order, . is system \d of the fusion for the test"):
            require_same_places("abc", tested)


def test_a_file_is_one_system_by_whatever_path(tmp_path):
    (tmp_path / "a.txt").write_text("")
    (tmp_path / "link.txt").symlink_to(tmp_path / "a.txt")
    refuse_twice([tmp_path / "a.txt", tmp_path / "b.txt", "-", "-"])
    with pytest.raises(InputError, match=r"link\.txt: given twice"):
        refuse_twice([tmp_path / "a.txt", tmp_path / "link.txt"])
