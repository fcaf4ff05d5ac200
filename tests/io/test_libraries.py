"""What libraries do with hostile files when nobody looks first; a test fails when a reason for code of ours is gone.

Every file is read in a process of its own, a fork of one that has imported the libraries, which has little time and
memory. What may go when a library is mended, and what must stay all the same, is in docs/design/untrusted-files.md.
"""

import importlib.metadata
import signal
import struct
import sys

import h5py
import numpy as np
import pytest

from support.hdf5_files import MASK, PACKED_MEBIBYTE, h5

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="limits and memory of a process are asked of Linux")

MEBIBYTES = 256
READER = """
import resource, sys, {library}

def kibibytes(what):
    return next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith(what))

spent = resource.getrusage(resource.RUSAGE_SELF)
seconds, size, peak = int(spent.ru_utime + spent.ru_stime) + 2, kibibytes("VmSize") << 10, kibibytes("VmHWM")
resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 5))
resource.setrlimit(resource.RLIMIT_AS, (size + (2 << 30), size + (2 << 30)))
path = sys.argv[1]
said = "read"
try:
    {deed}
except MemoryError:
    said = "no memory"
except Exception as error:
    said = "refused " + type(error).__name__
sys.stderr.write("much memory" if kibibytes("VmHWM") - peak > {much} else said)
"""


def heap_in_circles(path):
    """Names of variable length, whose first says that it has no bytes."""
    data = bytearray(h5(path, {"names": ["ann", "bob"]}).read_bytes())
    data[data.index(b"GCOL") + 24] = 0
    path.write_bytes(data)


def many_references(path, n=5000):
    """Names of variable length that are all the same, long one."""
    with h5py.File(path, "w") as file:
        names = file.create_dataset("names", (n,), h5py.string_dtype())
        names[0] = "x" * 60_000
        names[1:] = [""] * (n - 1)
        start = names.id.get_offset()
    data = bytearray(path.read_bytes())
    data[start : start + 16 * n] = data[start : start + 16] * n
    path.write_bytes(data)


def short_chunk(path):
    """A chunk of three bytes, of which four should be a checksum."""
    with h5py.File(path, "w") as file:
        dataset = file.create_dataset("scores", (2, 3), "f8", chunks=(2, 3), fletcher32=True)
        dataset.id.write_direct_chunk((0, 0), b"abc")


def chunk_that_inflates(path):
    """A chunk of 48 bytes, unpacked."""
    with h5py.File(path, "w") as file:
        dataset = file.create_dataset("scores", (2, 3), "f8", chunks=(2, 3), compression="gzip")
        dataset.id.write_direct_chunk((0, 0), b"x\x9c" + MEBIBYTES * PACKED_MEBIBYTE)


def fill_value_of_negative_length(path):
    """A fill value of -2**24 bytes; -1 would mean that there is none."""
    data = bytearray(h5(path, {"mask": MASK}, compression="gzip").read_bytes())
    at = data.index(b"\x02\x03\x02\x01")  # version 2, allocated bit by bit, written if set, defined
    data[at + 7] = 255
    path.write_bytes(data)


def mat5(path, kind, shape, cells):
    """A MATLAB file of version 5 with one array of numbers (6), text (4) or cells (1)."""
    parts = (6, struct.pack("<II", kind, 0)), (5, struct.pack("<2i", *shape)), (1, b"v"), *cells
    data = b"".join(struct.pack("<II", code, len(part)) + part + bytes(-len(part) % 8) for code, part in parts)
    head = b"MATLAB 5.0 MAT-file".ljust(124) + struct.pack("<H", 0x0100) + b"IM"
    path.write_bytes(head + struct.pack("<II", 14, len(data)) + data)


def npy(path, shape, data):
    header = f"{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}}}\n".encode()
    path.write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + data)


HDF5, LOAD = "with h5py.File(path) as file: file['{}']{}", "scipy.io.loadmat(path, uint16_codec='utf-16-le')['v']"
REASONS = {
    "HDF5: a damaged heap": ("h5py", heap_in_circles, HDF5.format("names", "[()]"), "SIGXCPU"),
    "HDF5: many references to one name": ("h5py", many_references, HDF5.format("names", "[()]"), "much memory"),
    "HDF5: a chunk shorter than its checksum": ("h5py", short_chunk, HDF5.format("scores", "[()]"), "SIGSEGV"),
    "HDF5: a bomb": ("h5py", chunk_that_inflates, HDF5.format("scores", "[()]"), "much memory"),
    "HDF5: a fill value": ("h5py", fill_value_of_negative_length, HDF5.format("mask", ".fillvalue"), "SIGSEGV"),
    "MATLAB: an unknown type": ("scipy.io", lambda path: mat5(path, 6, (1, 1), [(8, bytes(8))]), LOAD, "SIGSEGV"),
    "MATLAB: cells that are not there": ("scipy.io", lambda path: mat5(path, 1, (1 << 30, 1), []), LOAD, "no memory"),
    "MATLAB: text beyond the basic plane": (
        "scipy.io",
        lambda path: mat5(path, 4, (1, 2), [(4, "\U0001f600".encode("utf-16-le"))]),
        LOAD,
        "refused TypeError",
    ),
    "MATLAB: text that is no text": (
        "scipy.io",
        lambda path: mat5(path, 4, (1, 1), [(1, b"\xe9")]),
        f"assert {LOAD}.tolist() == ['\\ufffd']",
        "read",
    ),
    "NumPy: numbers that are not there": (
        "numpy",
        lambda path: npy(path, "(1000000000,)", bytes(24)),
        "numpy.load(path)",
        "no memory",
    ),
    "NumPy: a header of four gigabytes": (
        "numpy",
        lambda path: path.write_bytes(b"\x93NUMPY\x02\x00\xff\xff\xff\xff"),
        "numpy.load(path)",
        "no memory",
    ),
    "NumPy: more numbers than promised": (
        "numpy",
        lambda path: npy(path, "(2,)", bytes(24)),
        "assert numpy.load(path).shape == (2,)",
        "read",
    ),
}


@pytest.fixture
def outcome(matlab_runner, tmp_path):
    """A function that tells how a process ends that reads a file: by which signal, or what it said."""

    def found(library, deed, path):
        program = tmp_path / "program.py"
        program.write_text(READER.format(library=library, deed=deed, much=MEBIBYTES << 9))
        done = matlab_runner.run([sys.executable, "-P", str(program), str(path)], timeout=120)
        return signal.Signals(-done.returncode).name if done.returncode < 0 else done.stderr.decode()

    return found


@pytest.mark.parametrize("reason", REASONS)
def test_the_library_still_needs_a_guard(reason, tmp_path, outcome):
    library, build, deed, expected = REASONS[reason]
    build(tmp_path / "hostile")
    version = importlib.metadata.version(library.partition(".")[0])
    told = f"{library} {version} has changed: docs/design/untrusted-files.md says what may go"
    assert outcome(library, deed, tmp_path / "hostile") == expected, told


def test_sound_files_are_read_within_the_limits(tmp_path, outcome):
    """So that what happens above is due to the files."""
    path = h5(tmp_path / "sound.h5", {"names": ["ann", "bob"], "scores": np.zeros((2, 3))})
    assert outcome("h5py", HDF5.format("names", "[()]"), path) == "read"
    assert outcome("h5py", HDF5.format("scores", "[()]"), path) == "read"
    assert outcome("h5py", HDF5.format("scores", ".fillvalue"), path) == "read"
    mat5(path, 6, (1, 2), [(9, bytes(16))])
    assert outcome("scipy.io", f"assert {LOAD}.shape == (1, 2)", path) == "read"
    npy(path, "(3,)", bytes(24))
    assert outcome("numpy", "assert numpy.load(path).shape == (3,)", path) == "read"
