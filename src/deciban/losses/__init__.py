"""Costs to train with: Cllr and the beta family, with gradients, for NumPy arrays and PyTorch tensors.

The numbers are those of `deciban.metrics`; what comes in decides what comes out. Of tensors the cost is a tensor on
the same device that PyTorch can differentiate, twice if asked: ``deciban.losses.cllr(tar, non).backward()``. Arrays of
other libraries that follow the array API standard are taken too. NumPy does not differentiate: the functions whose
names end in ``_and_gradient`` return both.
"""

from __future__ import annotations

from deciban._lazy import late

__getattr__, __dir__ = late(__name__)
