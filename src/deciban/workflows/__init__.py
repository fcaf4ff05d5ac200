"""Files in, files and results out: the verbs of the command line as functions, for scores of both kinds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from deciban._lazy import late

if TYPE_CHECKING:
    from deciban.workflows.apply import apply_files
    from deciban.workflows.evaluate import evaluate_files
    from deciban.workflows.inputs import JoinedScores, read_joined
    from deciban.workflows.inspection import inspect_file
    from deciban.workflows.kinds import kind_of_scores
    from deciban.workflows.options import Figures, Options, Reading
    from deciban.workflows.train import train_files
    from deciban.workflows.trained import Trained
else:
    __getattr__, __dir__ = late(
        __name__,
        {
            "deciban.workflows.apply": ("apply_files",),
            "deciban.workflows.evaluate": ("evaluate_files",),
            "deciban.workflows.inputs": (
                "JoinedScores",
                "read_joined",
            ),
            "deciban.workflows.inspection": ("inspect_file",),
            "deciban.workflows.kinds": ("kind_of_scores",),
            "deciban.workflows.options": (
                "Figures",
                "Options",
                "Reading",
            ),
            "deciban.workflows.train": ("train_files",),
            "deciban.workflows.trained": ("Trained",),
        },
    )

__all__ = [
    "Figures",
    "JoinedScores",
    "Options",
    "Reading",
    "Trained",
    "apply_files",
    "evaluate_files",
    "inspect_file",
    "kind_of_scores",
    "read_joined",
    "train_files",
]
