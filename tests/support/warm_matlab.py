"""Reads MATLAB files of version 5 in forks of one process that has imported scipy, which takes most of the time.

The program, its limits and its end are those of `matlab5_process.py`; only the interpreter does not start anew.
"""

import os
import runpy
import subprocess
import sys
import traceback
from types import SimpleNamespace


def _answer(line):
    """Run the program in a fork; its arguments, after the file of its messages, are separated by NUL."""
    messages, program, *words = line.rstrip("\n").split("\0")
    child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    code = 1
    try:
        os.dup2(os.open(messages, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), 2)
        sys.argv = [program, *words]
        runpy.run_path(program, run_name="__main__")
        code = 0
    except SystemExit as end:
        sys.stderr.write(f"{end.code}\n")
    except BaseException:  # noqa: BLE001
        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(code)


def serve():
    """Answer each line with the exit status of its fork."""
    import h5py  # noqa: F401
    import scipy.io  # noqa: F401

    for line in sys.stdin:
        sys.stdout.write(f"{_answer(line)}\n")
        sys.stdout.flush()


def runner(server, folder):
    """Take the place of the module `subprocess` where only this program is run."""

    def run(command, *, timeout, **how):
        _python, _isolated, *words = command
        if timeout < 1:  # a limit of time that the start alone exceeds
            return subprocess.run(command, timeout=timeout, **how)  # noqa: PLW1510
        messages = folder / "messages"
        server.stdin.write("\0".join([str(messages), *words]) + "\n")
        server.stdin.flush()
        return SimpleNamespace(returncode=int(server.stdout.readline()), stderr=messages.read_bytes())

    return SimpleNamespace(run=run, TimeoutExpired=subprocess.TimeoutExpired)


if __name__ == "__main__":
    serve()
