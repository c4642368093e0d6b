"""How much there is to know: ``make size``, or ``python -m tests.size REVISION...``.

Counts the Scala code of the source side and of the sink side, and the files and lines of each
folder, in the working tree and in other revisions of Git. Comments and texts do not count as code.
"""

from __future__ import annotations

import argparse
import io
import re
import subprocess
import sys
import tarfile
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

ROOT = Path(__file__).resolve().parents[1]
MAIN = "connector-scala/src/main/scala/sparkkinesis/"
SIDES = {
    "source side": ("shard/", "source/", "spark/read/", "spark/realtime/", "spark/stop/"),
    "sink side": ("sink/", "model/aggregate/", "spark/write/", "spark/once/", "spark/deadletter/"),
}
FOLDERS = (
    *("connector-scala/src/main", "connector-scala/src/test", "tests", "localstack/simulator/src"),
    *("python/src", "python/tests", "examples", "docs"),
)
KINDS = (".scala", ".java", ".py", ".tf", ".md", ".html", ".ipynb")
NO_CODE = re.compile(r'/\*.*?\*/|//[^\n]*|"""(?:.*?)"""|"(?:\\.|[^"\\\n])*"', re.DOTALL)
COUNTS = {
    "types": r"(?m)^ *(?:(?:private|protected|sealed|final|abstract|case|implicit)(?:\[\w+\])? +)*"
    r"(?:class|trait|object) +\w",
    "vars": r"\bvar +\w",
    "function-valued parameters": r"[(,]\s*(?:private +|val +)*\w+: *(?:[^(),=]|\([^()]*\))*=>",
    "code lines": r"(?m)^ *\S",
}
LOCKS = re.compile(r"\bsynchronized\b|\bReentrantLock\b")


def working_tree() -> dict[str, str]:
    """The files of the working tree that Git knows."""
    listed = git("ls-files", "-z", "--", *FOLDERS).decode().split("\0")
    paths = [path for path in listed if path.endswith(KINDS) and (ROOT / path).is_file()]
    return {path: (ROOT / path).read_text(encoding="utf-8") for path in paths}


def revision(name: str) -> dict[str, str]:
    """The files of a revision."""
    known = [folder for folder in FOLDERS if git("ls-tree", name, "--", folder)]
    archive = io.BytesIO(git("archive", "--format=tar", name, "--", *known))
    with tarfile.open(fileobj=archive) as opened:
        files = [it for it in opened.getmembers() if it.isfile() and it.name.endswith(KINDS)]
        contents = {it.name: opened.extractfile(it) for it in files}
        return {name: it.read().decode() for name, it in contents.items() if it is not None}


def git(*words: str) -> bytes:
    """The output of a command of Git."""
    return subprocess.run(["git", *words], cwd=ROOT, check=True, capture_output=True).stdout


def sizes(files: Mapping[str, str]) -> dict[str, int]:
    """What there is to know, by name."""
    found: dict[str, int] = {}
    for side, folders in SIDES.items():
        starts = tuple(MAIN + folder for folder in folders)
        core = {path: text for path, text in files.items() if path.startswith(starts)}
        code = [NO_CODE.sub(lambda it: "" if it[0][0] == "/" else '""', it) for it in core.values()]
        found |= {f"{side}: files": len(core), f"{side}: lines": lines(core)}
        for name, pattern in COUNTS.items():
            found[f"{side}: {name}"] = sum(len(re.findall(pattern, text)) for text in code)
        found[f"{side}: files that lock"] = sum(bool(LOCKS.search(text)) for text in code)
    for folder in FOLDERS:
        within = {path: text for path, text in files.items() if path.startswith(f"{folder}/")}
        found[f"{folder}: files"], found[f"{folder}: lines"] = len(within), lines(within)
    return found


def lines(files: Mapping[str, str]) -> int:
    """The number of lines of files."""
    return sum(text.count("\n") for text in files.values())


def main(arguments: Sequence[str] | None = None) -> int:
    """Print a table with a column per revision, and one for the working tree."""
    parser = argparse.ArgumentParser(prog="tests.size", description="How much there is to know.")
    parser.add_argument("revisions", nargs="*", help="revisions of Git to compare with")
    names = parser.parse_args(arguments).revisions
    columns = [*(sizes(revision(name)) for name in names), sizes(working_tree())]
    heads = [*(name[:10] for name in names), "now"]
    print(f"{'':44}" + "".join(f"{head:>12}" for head in heads))
    for name in columns[-1]:
        print(f"{name:44}" + "".join(f"{column[name]:>12,}" for column in columns))
    return 0


if __name__ == "__main__":
    sys.exit(main())
