"""What deciban raises and warns: every message says what arrived, where, the rule and the way out."""

from __future__ import annotations


class DecibanError(Exception):
    """Base of every error that deciban raises on purpose."""


class InputError(DecibanError, ValueError):
    """An argument holds something that has no meaning as a score, a weight, a prior or a cost."""


class FormatError(DecibanError, ValueError):
    """A file does not hold what its format promises; the message starts with ``file:line:``."""


class KeyMismatchError(DecibanError, ValueError):
    """Scores and key do not speak of the same trials."""


class MissingScoresError(KeyMismatchError):
    """Some trials lack a score, and nobody has said what to do about them."""


class DecibanWarning(UserWarning):
    """The numbers are right, but they probably do not mean what the user hopes."""
