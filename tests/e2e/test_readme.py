"""Every python fence of the README, run in order as a reader would."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FENCE = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def test_the_readme_runs(tmp_path: Path) -> None:
    fences = FENCE.findall((ROOT / "README.md").read_text(encoding="utf-8"))
    assert len(fences) >= 3
    script = tmp_path / "readme.py"
    script.write_text("\n".join(fences), encoding="utf-8")
    ended = subprocess.run(
        [sys.executable, str(script)],
        cwd=tmp_path,
        timeout=240,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stdout[-2000:] + ended.stderr[-6000:]
    # What the reading fence promises to show.
    assert "order 1" in ended.stdout
