"""Small files of scores and their key."""


def write_score_files(folder):
    """Write scores of two systems and a key, 60 trials, and scores of three classes into a folder; return it."""
    scores, second, key, classes = [], [], [], ["trial\tclass\teng\tfra\tdeu\n"]
    for row in range(60):
        trial, is_target = f"speaker{row % 7} segment{row}", row % 3 == 0
        scores.append(f"{trial} {(row * 37 % 60) / 12 - 2.5 + is_target:.4f}\n")
        second.append(f"{trial} {(row * 23 % 60) / 12 - 2.5 + is_target:.4f}\n")
        key.append(f"{trial} {'target' if is_target else 'nontarget'}\n")
        values = "\t".join(f"{row * factor % 60 / 12:.4f}" for factor in (7, 11, 13))
        classes.append(f"segment{row}\t{('eng', 'fra', 'deu')[row % 3]}\t{values}\n")
    for name, lines in {"scores": scores, "second": second, "key": key}.items():
        (folder / f"{name}.txt").write_text("".join(lines))
    (folder / "classes.tsv").write_text("".join(classes))
    return folder


def said(messages):
    """What was read, assumed and written: a line each."""
    return [str(one) for one in messages]
