"""Methods of dataclasses that the program compiles at their first use behave like all others."""

import subprocess
import sys

SIGNATURES = """
import dataclasses, inspect, pickle, sys
from deciban import _lazy
if sys.argv[1] == "late":
    _lazy.compile_methods_late()
from deciban.core.ranks.roc import OperatingPoint
if sys.argv[1] == "late" and hasattr(dataclasses, "_create_fn"):
    assert isinstance(OperatingPoint.__dict__["__init__"], _lazy.LateMethod)
    assert not isinstance(dataclasses.make_dataclass("Other", ["x"]).__dict__["__init__"], _lazy.LateMethod)
one, other = OperatingPoint(0.25, 2.0), OperatingPoint(c_fa=1.0, c_miss=2.0, p_target=0.25)
assert not isinstance(OperatingPoint.__dict__["__init__"], _lazy.LateMethod)
same = one == other, one != OperatingPoint(0.5), hash(one) == hash(other), pickle.loads(pickle.dumps(one)) == one
print(repr(one), *same)
print(repr(dataclasses.replace(one, c_miss=3.0)))
print(OperatingPoint.__init__.__qualname__, OperatingPoint.__eq__.__qualname__)
for attempt in (lambda: setattr(one, "c_fa", 2.0), lambda: delattr(one, "c_fa"), lambda: OperatingPoint()):
    try:
        attempt()
    except (AttributeError, TypeError) as error:
        print(type(error).__name__, error)
import deciban.evaluation.metrics
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
    assert late.startswith("OperatingPoint(p_target=0.25, c_miss=2.0, c_fa=1.0) True True True True\n")
    assert "FrozenInstanceError cannot assign to field 'c_fa'" in late
