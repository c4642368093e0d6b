"""Runs a command and waits for all processes that it leaves behind, so that their CPU time counts.

A process that has lost its parent, such as Spark's JVM when its Python ends, becomes a child of
this one. The system adds the time of a child to its parent's only when the parent waits for it.
"""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
import time
from contextlib import suppress

ADOPT = 36  # PR_SET_CHILD_SUBREAPER in linux/prctl.h
PATIENCE_SECONDS = 10.0


def main(*command: str) -> int:
    """The command's exit status, or 128 and the number of the signal that ended it."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(ADOPT, 1, 0, 0, 0)
    child = subprocess.Popen(command)
    while child.returncode is None:
        ended, status = os.wait()
        if ended == child.pid:
            child.returncode = os.waitstatus_to_exitcode(status)
    until = time.monotonic() + PATIENCE_SECONDS
    with suppress(ChildProcessError):  # there is none any more
        while time.monotonic() < until:
            if os.waitpid(-1, os.WNOHANG) == (0, 0):
                time.sleep(0.05)
    return child.returncode if child.returncode >= 0 else 128 - child.returncode


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
