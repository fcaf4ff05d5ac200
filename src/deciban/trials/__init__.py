"""Tables of trials (index, key, scores) and their joins."""

from deciban._lazy import late

__getattr__, __dir__ = late(__name__)
