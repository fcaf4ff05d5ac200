"""The memory budget: how `--memory` becomes rows, threads and refusals.

All other modules get their numbers of rows from here. `Cost` lists the bytes per row of each task.
"""

from __future__ import annotations

import ctypes
import math
import os
import re
import sys
from contextlib import suppress
from pathlib import Path
from typing import Final

from deciban.errors import InputError, option

LIBRARIES: Final = 60 * 10**6
"""Bytes that Python and its libraries take."""

LEAST: Final = 100 * 10**6
"""Smallest `--memory` that is accepted."""

LEAST_FOR_MERGING: Final = 150 * 10**6
"""Smallest `--memory` for writing summary files, which are merged."""

TIMES_ITS_SIZE: Final = {"text": 10, "packed": 40, "binary": 14}
"""Memory of reading a file and sorting its scores, as a multiple of its size.

A CSV table with names took 7.4 times its size; compressed, it is five times smaller. A NumPy matrix took 3.6 times its
size. MATLAB and HDF5 files with names take more; the factor 14 was not measured again.
"""

_FEWEST_CLASSES = 2
"""A table with more columns of numbers may contain class scores."""

_UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12, "ki": 2**10, "mi": 2**20, "gi": 2**30, "ti": 2**40}
_MEMORY = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([kmgt]i?)?b?\s*", re.IGNORECASE)

CLASSIFIER: Final = "classifier: these metrics need all scores in memory"
"""The reason for refusing metrics of classifiers."""

_TIGHT = 512 * 10**6
"""Budgets below this return freed memory at once, which costs some time."""

_UNKNOWN = 4 * 10**9
"""Number of bytes that are assumed to be free if the system does not report it (Windows)."""

_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3  # M_TRIM_THRESHOLD and M_MMAP_THRESHOLD of mallopt
_LARGE = 1 / 512
"""Fraction of the memory above which a block counts as large."""


class Cost:
    """Bytes of memory that a row, cell or number takes in each task, including all copies.

    The number in brackets is the measurement that a constant comes from. The other constants are older; with them, the
    peaks of `benchmarks/memory.py` stay within `--memory`.

    1. `benchmarks/memory.py --costs`: peaks of anonymous memory of commands on 10^6 and on 2,000 rows with
       ``--memory=2GB``, their difference divided by the rows.
    2. Growth of anonymous memory, sampled every half millisecond, while one function works on 10^5 to 10^6 rows.
    3. Peaks of `eval --units` with 400, 20,000 and 100,000 units, their differences divided by the units.
    """

    PARQUET_ROW: Final = 52  # a row of a Parquet file that is read as a whole [1: 261, estimated as 274]
    PARQUET_COLUMN: Final = 6  # times the bytes of its columns
    CLASS_NUMBER: Final = 80  # each of three or more numbers of a row, with multiclass intervals [1: 77]
    LABEL: Final = 4  # of a row that is read and put in order
    WEIGHT: Final = 44  # [2: 43 more than without]
    COPIES_OF_ONE: Final = 5  # times the bytes of its score, which is sorted [2: 4.3 for float32]
    COPIES_OF_SEVERAL: Final = 8  # times those of several scores, side by side [2: 3.5 to 5.7 for five classes]
    HELD: Final = 80  # a trial that is sorted and evaluated in memory [2: 17, and 51 with units]
    HELD_WIDE: Final = 160  # one with a weight, or of float64 [2: 60 without units]
    GROUPED: Final = 400  # a distinct score, when errors are added up along the sorted scores [2: 246]
    KEPT: Final = 40  # a score of the rarer class, when float32 scores are counted by value
    READ: Final = 24  # a row that is read meanwhile [2: 21]
    REPLICATED: Final = 256  # a trial, while bootstrap replicates are counted
    REPLICATE_BIN: Final = 64  # a bin of scores in one replicate
    CLASS_REPLICATE: Final = 32  # a multiclass metric in one stratum and one replicate
    UNIT: Final = 3000  # a unit (cluster) of two classes, with its name and its sums [3]
    UNIT_IN_TABLE: Final = 14_900  # a unit, as long as `UNIT_TABLE` holds them all [3]
    UNIT_TABLE: Final = 300 * 10**6  # from here on tables of units and bins are sparse [3]
    INFLUENCE: Final = 32  # the influence of a trial on one metric, with its inputs
    JOINED: Final = 250  # a row that is read, matched by its names and read again [1: 313, less what else takes memory]
    JOINED_NAME: Final = 60  # a row, while one batch of names is matched
    NUMBER: Final = 64  # each number of a row that is read again
    WRITTEN: Final = 780  # a row that is read, changed and written: two batches for one thread [1: 390 for each]
    MATRIX_CELL: Final = 96  # [1: 18 for a whole evaluation of 4 * 10^6 cells]
    SAMPLED: Final = 128  # a number of a sample that training draws, with samples that wait to be added
    CLASSIFIER: Final = 40  # a log-likelihood with its posterior and their copies, all in memory
    LLR: Final = 64  # a log-likelihood ratio that is kept until the bound is known
    TEXT: Final = 12  # a byte of a text file that is parsed [1: 7.4, and the resulting table]
    THREAD: Final = 12 * 10**6  # buffers of a further thread


def allowed_memory(memory: str | int | None) -> int:
    """Return the number of bytes that the process may take, including Python and its libraries.

    Parameters
    ----------
    memory : str, int or None
        The option of the user. None means half of the free memory.

    Raises
    ------
    InputError
        If it is not a size, or is below 100 MB.

    Examples
    --------
    >>> allowed_memory("2GB"), allowed_memory("1.5 GiB")
    (2000000000, 1610612736)
    """
    if memory is None:
        return max(free_memory() // 2, LEAST)
    result = None
    if isinstance(memory, int) and not isinstance(memory, bool):
        result = memory
    elif isinstance(memory, str) and (match := _MEMORY.fullmatch(memory)) is not None:
        result = round(float(match[1]) * _UNITS[(match[2] or "").lower()])
    if result is None:
        raise InputError(f"memory: got {memory!r}. Write a size, such as 2GB, 500MB or a number of bytes.")
    require_least(memory, result, LEAST, "reading in batches")
    return result


def require_least(memory: str | int | None, allowed: int, least: int, task: str) -> None:
    """Raise `InputError` if the allowed memory is less than the minimum for a task."""
    if allowed < least:
        raise InputError(
            f"memory: got {memory!r}, and {task} needs {least // 10**6} MB, of which Python and its libraries take "
            f"{LIBRARIES // 10**6} MB. Allow more memory ({option(memory=...)})."
        )


def memory_for_trials(memory: str | int | None) -> int:
    """Return the allowed bytes without the share of Python and its libraries.

    Examples
    --------
    >>> memory_for_trials("2GB")
    1940000000
    """
    return allowed_memory(memory) - LIBRARIES


def rows_that_fit(
    memory: float | None, of_row: float, *, at_once: int = 1, fewest: int = 1, most: int = sys.maxsize
) -> int:
    """Return the number of rows that fit in memory.

    Parameters
    ----------
    memory : float or None
        Bytes; None for no limit.
    of_row : float
        Bytes of a row, usually one of `Cost`.
    at_once : int
        Number of threads or parts that share the memory.
    fewest, most : int
        Limits of the result.

    Examples
    --------
    >>> rows_that_fit(10**9, Cost.HELD, at_once=2), rows_that_fit(10**6, Cost.HELD, fewest=65536)
    (6250000, 65536)
    """
    room = math.inf if memory is None else memory / max(at_once * of_row, 1)
    return int(min(max(room, fewest), most))


def bytes_of_row(n_numbers: int, size: int, *, weighted: bool = False) -> int:
    """Return the bytes that a row takes while its scores are read, sorted and summed.

    ``size`` is the number of bytes of one score.

    Examples
    --------
    >>> bytes_of_row(1, 4), bytes_of_row(5, 4)
    (24, 164)
    """
    copies = Cost.COPIES_OF_ONE if n_numbers == 1 else Cost.COPIES_OF_SEVERAL
    return Cost.LABEL + copies * n_numbers * size + (Cost.WEIGHT if weighted else 0)


def n_processors() -> int:
    """Return the number of processors of this process, or of the machine if unknown (macOS, Windows)."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def memory_error(what: str, *, needed: float | None = None, given: float | None = None, way: str = "") -> InputError:
    """Return the error that refuses a task for lack of memory.

    Parameters
    ----------
    what : str
        The argument, and why it needs memory.
    needed, given : float, optional
        Bytes that the task needs for trials, and bytes that it may take. The message adds the share of Python and its
        libraries.
    way : str
        Another thing that the user can do.

    Examples
    --------
    >>> print(memory_error("key: b.txt is read as a whole", needed=4.4e8, given=1.4e8, way="leave it out"))
    key: b.txt is read as a whole, which takes 500 MB where 200 MB are allowed. Allow more memory (memory=...), \
or leave it out.
    """
    most, least = (None if one is None else (one + LIBRARIES) / 1e6 for one in (needed, given))
    takes = "" if most is None else f", which takes {math.ceil(most):,} MB"
    takes += "" if least is None else f" where {math.floor(least):,} MB are allowed"
    return InputError(f"{what}{takes}. Allow more memory ({option(memory=...)}){way and f', or {way}'}.")


def require_room(what: str, needed: float, value: float, *, way: str = "") -> None:
    """Raise the error of `memory_error` if a task needs more memory than it may take.

    Examples
    --------
    >>> require_room("key: b.txt is read as a whole", 10**7, 10**8)
    """
    if needed > value:
        raise memory_error(what, needed=needed, given=value, way=way)


def bytes_held(n_rows: int, *, is_wide: bool = False) -> int:
    """Return the bytes of trials in memory; `is_wide` for trials with weights or scores of float64."""
    return n_rows * (Cost.HELD_WIDE if is_wide else Cost.HELD)


def bytes_of_joined(of_names: float = 0.0) -> float:
    """Return the bytes of a row while one batch of names is matched; `of_names` is the mean size of its names."""
    return max(Cost.JOINED_NAME, Cost.JOINED_NAME / 2 + 2 * of_names)


def bytes_of_parquet(n_rows: int, n_numbers: int, of_columns: float) -> int:
    """Return the bytes that a Parquet file takes, given the numbers of a row and the bytes of all columns."""
    of_row = Cost.PARQUET_ROW + (Cost.CLASS_NUMBER * n_numbers if n_numbers > _FEWEST_CLASSES else 0)
    return int(n_rows * of_row + Cost.PARQUET_COLUMN * of_columns)


def require_room_for_units(n_units: int, memory: float) -> None:
    """Raise `InputError` if the sums for all units (clusters) exceed the memory.

    Examples
    --------
    >>> require_room_for_units(1000, 10**8)
    """
    needed = max(min(n_units * Cost.UNIT_IN_TABLE, Cost.UNIT_TABLE), n_units * Cost.UNIT)
    what = f"units: there are {n_units:,}, and errors are added up for each"
    way = f"name larger units ({option(units=...)}), or leave intervals out ({option(intervals=False)})"
    require_room(what, needed, memory, way=way)


def give_back_at_once(memory: int) -> None:
    """Make the allocators return large freed blocks to the system at once, if little memory is allowed.

    With several threads, allocators keep twice as much freed memory as is in use.
    """
    if memory >= _TIGHT:
        return
    with suppress(OSError, AttributeError):  # another C library
        ctypes.CDLL(None).mallopt(_MMAP_THRESHOLD, int(memory * _LARGE))
    if (arrow := sys.modules.get("pyarrow")) is not None:
        arrow.set_memory_pool(arrow.system_memory_pool())


def keep_freed_blocks() -> None:
    """Make the allocator keep freed blocks; fetching them anew takes a quarter of the time of reading long texts."""
    with suppress(OSError, AttributeError):  # another C library
        for threshold, n_bytes in ((_TRIM_THRESHOLD, 1 << 28), (_MMAP_THRESHOLD, 1 << 26)):
            ctypes.CDLL(None).mallopt(threshold, n_bytes)


def give_back() -> None:
    """Return freed memory to the system now, between two steps that take much memory."""
    with suppress(OSError, AttributeError):  # another C library
        ctypes.CDLL(None).malloc_trim(0)
    if (arrow := sys.modules.get("pyarrow")) is not None:
        arrow.default_memory_pool().release_unused()


def free_memory() -> int:
    """Return the number of free bytes of this machine, or of its control group (cgroup)."""
    items = [os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else _UNKNOWN]
    path = Path("/proc/meminfo")
    if path.exists():
        match = re.search(r"MemAvailable:\s*(\d+) kB", path.read_text())
        items += [int(match[1]) * 1024] if match else []
    limit, used = (Path("/sys/fs/cgroup") / name for name in ("memory.max", "memory.current"))
    if limit.exists() and used.exists() and limit.read_text().strip().isdigit():
        items.append(int(limit.read_text()) - int(used.read_text()))
    return max(min(items), 0)
