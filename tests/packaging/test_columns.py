"""The width of the sources: a line that is not seen as a whole is not read."""

from __future__ import annotations

import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[2]
MOST_COLUMNS = 100


def test_no_line_of_code_or_comments_is_too_long() -> None:
    patterns = ["*.scala", "*.sbt", "*.py", "*.java", "*.sh", ".ci/run", "project/sbt"]
    listed = subprocess.run(
        ["git", "ls-files", "-z", *patterns], cwd=ROOT, capture_output=True, text=True, check=True
    )
    names = [name for name in listed.stdout.split("\0") if name]
    assert len(names) > 1000
    assert [
        f"{name}:{number} has {len(line)} columns"
        for name in names
        if Path(ROOT, name).exists()
        for number, line in enumerate(Path(ROOT, name).read_text("utf-8").splitlines(), 1)
        if len(line) > MOST_COLUMNS
    ] == []
