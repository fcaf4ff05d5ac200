"""Methods of dataclasses that the program compiles at their first use behave like all others."""

import subprocess
import sys

SIGNATURES = """
import dataclasses, inspect, pickle, sys
from deciban import _lazy
if sys.argv[1] == "late":
    _lazy.compile_methods_late()
from deciban.core.rules.expected import MeanCost
from deciban.evaluation import metrics
if sys.argv[1] == "late" and hasattr(dataclasses, "_create_fn"):
    assert isinstance(MeanCost.__dict__["__init__"], _lazy.LateMethod)
    assert not isinstance(dataclasses.make_dataclass("Other", ["x"]).__dict__["__init__"], _lazy.LateMethod)
one, other = MeanCost(1.0, 0.0, 2.0), MeanCost(high=1.0, low=0.0, weight=2.0)
assert not isinstance(MeanCost.__dict__["__init__"], _lazy.LateMethod)
same = one == other, one != MeanCost(2.0, 0.0, 2.0), hash(one) == hash(other), pickle.loads(pickle.dumps(one)) == one
print(one, *same)
print(dataclasses.replace(one, high=3.0), MeanCost.__init__.__qualname__, MeanCost.__eq__.__qualname__)
for attempt in (lambda: setattr(one, "high", 2.0), lambda: delattr(one, "high"), lambda: MeanCost(1.0)):
    try:
        attempt()
    except (AttributeError, TypeError) as error:
        print(type(error).__name__, error)
for name, module in sorted(sys.modules.items()):
    for kind in vars(module).values() if name.startswith("deciban") else ():
        if isinstance(kind, type) and dataclasses.is_dataclass(kind):
            print(kind, inspect.signature(kind), kind.__repr__.__qualname__)
"""


def test_methods_that_are_compiled_late_are_the_same():
    late, usual = (
        subprocess.run([sys.executable, "-c", SIGNATURES, when], capture_output=True, text=True, check=True).stdout
        for when in ("late", "at once")
    )
    assert late == usual
    assert late.startswith("MeanCost(high=1.0, low=0.0, weight=2.0) True True True True\n")
    assert "FrozenInstanceError cannot assign to field 'high'" in late
