"""The processes of this machine and their parents."""

from __future__ import annotations

import subprocess
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

_PROC = Path("/proc")
_STATE, _PARENT = 0, 1


@dataclass(frozen=True)
class Process:
    """A process that has not ended."""

    pid: int
    parent: int
    command: str


def running() -> dict[int, Process]:
    """All processes by ID."""
    found = _from_proc() if _PROC.joinpath("self").exists() else _from_ps()
    return {process.pid: process for process in found}


def below(root: int, processes: Mapping[int, Process]) -> list[Process]:
    """The children of a process, their children, and so on."""
    found, parents = [], {root}
    while parents:
        children = [process for process in processes.values() if process.parent in parents]
        found += children
        parents = {child.pid for child in children}
    return found


def is_java(process: Process) -> bool:
    """Whether it is a virtual machine of Java."""
    return Path(process.command.split(" ")[0]).name == "java"


def python_workers(processes: Iterable[Process]) -> list[Process]:
    """The Python workers of Spark: children of its daemon."""
    known = list(processes)
    daemons = {it.pid for it in known if "pyspark.daemon" in it.command}
    return [it for it in known if it.parent in daemons]


def _from_proc() -> Iterable[Process]:
    for folder in _PROC.iterdir():
        if not folder.name.isdigit():
            continue
        try:
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
            command = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode()
        except OSError:
            continue  # it has ended
        if fields[_STATE] != "Z":
            yield Process(int(folder.name), int(fields[_PARENT]), command.strip())


def _from_ps() -> Iterable[Process]:
    words = ["ps", "-A", "-o", "pid=,ppid=,stat=,args="]
    output = subprocess.run(words, capture_output=True, text=True, check=True).stdout
    for line in output.splitlines():
        pid, parent, state, command = (*line.split(None, 3), "")[:4]
        if not state.startswith("Z"):
            yield Process(int(pid), int(parent), command)
