"""How much memory reading files takes, about."""

import numpy as np

from deciban.io.memory import memory_of


def test_binary_files_and_text(tmp_path):
    (tmp_path / "a.txt").write_text("m s 0.5\n" * 10)
    np.save(tmp_path / "a.npy", np.zeros(100))
    text, binary = (tmp_path / name for name in ("a.txt", "a.npy"))
    assert memory_of([text]) == 2 * text.stat().st_size
    assert memory_of([text], binary) == 2 * text.stat().st_size + 5 * binary.stat().st_size
    assert memory_of([str(tmp_path / "a.*")]) == memory_of([tmp_path]) == memory_of([text], binary)
    assert memory_of(["-", tmp_path / "nothing"]) == 0
