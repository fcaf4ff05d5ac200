"""How trials are held out in turn, and how that is told."""

from __future__ import annotations

from dataclasses import dataclass

from deciban.trials import Trials
from deciban.workflows.groups import Groups, groups_of, pairs_of
from deciban.workflows.joined import fact

DEFAULT_FOLDS = 5


@dataclass(frozen=True, slots=True)
class HoldOut:
    """What is held out together.

    Attributes
    ----------
    by : int, str, or pair of str
        Names of columns of the key, or of sides of trials; a number stands for all sides, and is the number of folds.
    n_folds : int
        Where ``by`` is a name.
    """

    by: int | str | tuple[str, str]
    n_folds: int = DEFAULT_FOLDS

    @property
    def parts(self) -> int:
        """The number of folds."""
        return self.by if isinstance(self.by, int) else self.n_folds

    def groups(self, trials: Trials) -> Groups:
        """Whose trials stay together; see `groups_of`."""
        return groups_of(trials, self.by)

    def words(self, trials: Trials) -> str:
        """Say what is held out, and in how many parts."""
        return f"{' and '.join(self._named(trials)) or 'single trials'}, {self.parts} parts"

    def _named(self, trials: Trials) -> tuple[str, ...]:
        """Whose names nobody who is held out shares with training."""
        by = self.by
        return (by,) if isinstance(by, str) else by if isinstance(by, tuple) else pairs_of(trials)

    def fact(self, trials: Trials, verb: str) -> str:
        """Say what was done: that no model has seen what it calibrates, or fuses."""
        named = self._named(trials)
        seen = f"{' or '.join(named)} of the trials" if named else "trials"
        return fact("folds", f"cross-validated in {self.parts} parts: no model has seen the {seen} that it {verb}")
