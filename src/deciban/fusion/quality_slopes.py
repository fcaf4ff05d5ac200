"""Derivatives of llrs of a fusion with quality by its parameters, and how those of terms become those of measures."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from deciban.fusion.quality_measures import Measures, quality_entries
from deciban.fusion.quality_terms import QualityTerms
from deciban.types import FloatArray

if TYPE_CHECKING:
    from deciban.fusion.quality import QualityFusion


def in_units_of_measures(fusion: QualityFusion, terms: QualityTerms, influences: FloatArray) -> FloatArray:
    """From influences on what was trained those on what the fusion holds, which is linear in it.

    Parameters
    ----------
    fusion : QualityFusion
        Trained.
    terms : QualityTerms
    influences : (n_units, n_columns + 1) array
        On weights of systems, of measures of trials and of terms, and on the offset beside these.

    Returns
    -------
    (n_units, n_parameters) array
        Of weights of systems, the offset, entries of ``W``, and weights of measures of trials.
    """
    n_systems, n_linear = fusion.n_systems_, fusion.n_systems_ + len(fusion.trial_quality_weights_)
    of_terms, places = influences[:, n_linear:-1], quality_entries(fusion)
    made = [terms.matrix(one) for one in np.eye(of_terms.shape[1])]
    entries = np.array([[matrix[at] for at in places] for matrix, _ in made]).reshape(len(made), len(places))
    offset = influences[:, -1] + of_terms @ np.array([more for _, more in made])
    of_trial = influences[:, n_systems:n_linear]
    return np.hstack((influences[:, :n_systems], offset[:, None], of_terms @ entries, of_trial))


def slopes_of_quality(fusion: QualityFusion, scores: FloatArray, measures: Measures) -> FloatArray:
    """Derivatives of the llrs of trials that have all measures by the parameters, (n_trials, n_parameters).

    Parameters
    ----------
    fusion : QualityFusion
    scores : (n_trials, n_systems) array
    measures : Measures
        Of these trials, combined.
    """
    n, is_one = len(scores), np.ones((len(scores), 1))
    sides = list[FloatArray]()
    for side, size in zip(("enroll", "test"), fusion.quality_weights_.shape, strict=True):
        table = measures.tables.get(side)
        sides.append(np.hstack((np.zeros((n, size - 1)) if table is None else table, is_one)))
    enroll, test = sides
    both = fusion.symmetric and len(fusion.quality_sides_) == 2
    columns = [
        enroll[:, i] * test[:, j] + (enroll[:, j] * test[:, i] if both and i != j else 0.0)
        for i, j in quality_entries(fusion)
    ]
    of_trial = [np.asarray(measures.tables["trial"], np.float64)] if "trial" in measures.tables else []
    return np.hstack((scores, is_one, *(column[:, None] for column in columns), *of_trial))
