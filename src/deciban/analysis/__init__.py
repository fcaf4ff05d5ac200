"""Analysis of several systems from arrays: comparison, fusion, contributions of systems, and sample-size planning."""

from deciban._lazy import late

__getattr__, __dir__ = late(__name__)
