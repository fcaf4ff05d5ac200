"""A loss as a sum over two classes, in the array library and on the device of the scores."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import array_api_compat
import numpy as np
from scipy.special import expit

from deciban._validate import arrays as _validate
from deciban.losses import autograd, kernels
from deciban.losses.trials import LossTrials, both_classes

_SEVERAL = "Add up the losses of several priors, with the weights they deserve"


class CostAndGradient(NamedTuple):
    """A cost, and how it changes with each score.

    Parameters
    ----------
    value : number or zero-dimensional array
        The cost: a NumPy number for NumPy arrays, a zero-dimensional array of the library otherwise.
    grad_tar : (n_tar,) array
        Derivative by each target score, per nat; never positive.
    grad_non : (n_non,) array
        Derivative by each non-target score, per nat; never negative.
    """

    value: Any
    grad_tar: Any
    grad_non: Any


class _Term(NamedTuple):
    """One class of an expected cost, ``sum(weight * C(x | non; alpha, beta))``: targets are non-targets mirrored."""

    x: Any
    sign: float
    weight: Any
    alpha: float
    beta: float
    dtype: Any

    @classmethod
    def of(cls, xp: Any, trials: LossTrials, sign: float, log_odds: float, rule: tuple[float, float]) -> _Term:
        """Weigh with the prior of the class, ``sigma(-sign * log_odds)``."""
        prior = float(expit(-sign * log_odds))
        x = sign * (trials.llr + log_odds)
        if prior == 0:  # underflown: leaves nothing of a cost, be it infinite
            nowhere = xp.zeros(x.shape, dtype=xp.bool, device=array_api_compat.device(x))
            x = xp.where(nowhere, x, xp.zeros_like(x))
        return cls(x, sign, prior * trials.share, *rule, trials.dtype)


class LossTerms(NamedTuple):
    """What targets and what non-targets add to a loss."""

    xp: Any
    terms: tuple[_Term, _Term]
    unit: float
    """In nats: ln 2 for losses in bits."""

    @classmethod
    def of_cllr(cls, tar: Any, non: Any, tar_weights: Any, non_weights: Any) -> LossTerms:
        """Cllr is the cross-entropy at even odds in bits."""
        terms = cls.of_rule(tar, non, tar_weights, non_weights, (1.0, 1.0), (None, 0.0))
        return terms._replace(unit=math.log(2))

    @classmethod
    def of_rule(
        cls,
        tar: Any,
        non: Any,
        tar_weights: Any,
        non_weights: Any,
        rule: tuple[float, float],
        prior: tuple[float | None, float | None],
    ) -> LossTerms:
        """Check all arguments of a loss."""
        alpha, beta = _validate.rule(*rule)
        log_odds = _validate.single_log_odds(*prior, way=_SEVERAL)
        xp, targets, non_targets = both_classes(tar, non, tar_weights, non_weights)
        tar_term = _Term.of(xp, targets, -1.0, log_odds, (beta, alpha))
        return cls(xp, (tar_term, _Term.of(xp, non_targets, 1.0, log_odds, (alpha, beta))), 1.0)

    def value(self) -> Any:
        """The loss, of the type of the scores, differentiable by the tensors it came from."""
        tensors = array_api_compat.is_torch_array(self.terms[0].x)
        return self._total((autograd if tensors else kernels).cost_non, self.terms)

    def value_and_gradient(self) -> CostAndGradient:
        """The loss and its derivatives from their formulas, outside of any graph."""
        terms = self.terms
        if array_api_compat.is_torch_array(terms[0].x):
            terms = (terms[0]._replace(x=terms[0].x.detach()), terms[1]._replace(x=terms[1].x.detach()))
        return CostAndGradient(self._total(kernels.cost_non, terms), *map(self._gradient, terms))

    def _total(self, cost_non: Callable[..., Any], terms: tuple[_Term, _Term]) -> Any:
        xp = self.xp
        # Vectors of one number until they have their type: sums of NumPy arrays are no arrays.
        tar, non = (xp.sum(t.weight * cost_non(xp, t.x, t.alpha, t.beta), keepdims=True) for t in terms)
        with np.errstate(over="ignore"):
            dtype = xp.result_type(*(t.dtype for t in terms))
            return xp.astype((tar + non) / self.unit, dtype, copy=False)[0]

    def _gradient(self, term: _Term) -> Any:
        slope = kernels.slope_non(self.xp, term.x, term.alpha, term.beta)
        with np.errstate(over="ignore"):
            return self.xp.astype(term.sign * term.weight * slope / self.unit, term.dtype, copy=False)
