"""Training losses: Cllr and the beta family, with gradients, for NumPy arrays and PyTorch tensors.

The values are the same as in `deciban.metrics`, in the library of the input. For tensors, the loss is a tensor on the
same device that PyTorch can differentiate, also twice: ``deciban.losses.cllr(tar, non).backward()``. Arrays of other
libraries with the array API standard are accepted, too. NumPy cannot differentiate: the functions ``*_and_gradient``
return the value and its gradient.
"""

from deciban._lazy import late

__getattr__, __dir__ = late(__name__)
