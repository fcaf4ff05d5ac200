"""Fusion: the scores of several systems become one log-likelihood ratio per trial, or one for each of many classes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from deciban._lazy import late

if TYPE_CHECKING:
    from deciban.fusion.divergence import posterior_divergence
    from deciban.fusion.hull_vertices import HullVertex, RandomizedRule
    from deciban.fusion.linear import LinearFusion
    from deciban.fusion.multiclass import MulticlassFusion
    from deciban.fusion.quality import QualityFusion
    from deciban.fusion.quality_measures import quality_vectors
    from deciban.fusion.subset import SubsetFusion
    from deciban.fusion.union_hull import UnionHull
else:
    __getattr__, __dir__ = late(
        __name__,
        {
            "deciban.fusion.divergence": ("posterior_divergence",),
            "deciban.fusion.hull_vertices": ("HullVertex", "RandomizedRule"),
            "deciban.fusion.linear": ("LinearFusion",),
            "deciban.fusion.multiclass": ("MulticlassFusion",),
            "deciban.fusion.quality": ("QualityFusion",),
            "deciban.fusion.quality_measures": ("quality_vectors",),
            "deciban.fusion.subset": ("SubsetFusion",),
            "deciban.fusion.union_hull": ("UnionHull",),
        },
    )

__all__ = [
    "HullVertex",
    "LinearFusion",
    "MulticlassFusion",
    "QualityFusion",
    "RandomizedRule",
    "SubsetFusion",
    "UnionHull",
    "posterior_divergence",
    "quality_vectors",
]
