"""Functions on files, for two-class and multiclass scores: one for each command of the command line."""

from deciban._lazy import late

__getattr__, __dir__ = late(__name__)
