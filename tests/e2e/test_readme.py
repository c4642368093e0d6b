"""Every python fence of the READMEs, run in order as a reader would."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FENCE = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def run_fences(readme: str, folder: Path) -> str:
    """Run them as one program; what it printed."""
    fences = FENCE.findall((ROOT / readme).read_text(encoding="utf-8"))
    assert fences, f"no fence in {readme}"
    script = folder / "readme.py"
    script.write_text("\n".join(fences), encoding="utf-8")
    ended = subprocess.run(
        [sys.executable, str(script)],
        cwd=folder,
        timeout=240,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stdout[-2000:] + ended.stderr[-6000:]
    return ended.stdout


def test_the_readme_runs_and_runs_again(tmp_path: Path) -> None:
    for _ in range(2):
        shown = run_fences("README.md", tmp_path)
        # What the reading fence promises to show.
        assert len(set(re.findall(r"\|(order \d+) *\|", shown))) == 100


def test_the_packages_readme_runs(tmp_path: Path) -> None:
    assert "subSequenceNumber: long" in run_fences("python/README.md", tmp_path)


def test_what_the_readmes_link_to_is_there() -> None:
    for readme in ("README.md", "localstack/README.md", "examples/README.md"):
        text = (ROOT / readme).read_text(encoding="utf-8")
        for target in re.findall(r"\]\(([^)#]+)\)", text):
            assert (ROOT / readme).parent.joinpath(target).exists(), f"{readme}: {target}"
