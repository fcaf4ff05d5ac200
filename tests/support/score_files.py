"""A small file of scores and its key."""


def write_score_files(folder):
    """Write ``scores.txt`` and ``key.txt``, 60 trials, into a folder and return it."""
    scores, key = [], []
    for row in range(60):
        trial, is_target = f"speaker{row % 7} segment{row}", row % 3 == 0
        scores.append(f"{trial} {(row * 37 % 60) / 12 - 2.5 + is_target:.4f}\n")
        key.append(f"{trial} {'target' if is_target else 'nontarget'}\n")
    (folder / "scores.txt").write_text("".join(scores))
    (folder / "key.txt").write_text("".join(key))
    return folder
