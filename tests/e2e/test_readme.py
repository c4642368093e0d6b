"""The code of the READMEs, run as a reader would."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from spark_kinesis.local import LocalKinesis

pytestmark = pytest.mark.spark4

ROOT = Path(__file__).resolve().parents[2]
READMES = ("README.md", "python/README.md")


def fences(readme: str, language: str) -> list[str]:
    """The code in that language."""
    text = (ROOT / readme).read_text(encoding="utf-8")
    found = re.findall(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    assert found, f"no {language} in {readme}"
    return [str(fence) for fence in found]


def run(command: list[str], folder: Path) -> str:
    """What it printed."""
    ended = subprocess.run(
        command, cwd=folder, timeout=240, capture_output=True, text=True, check=False
    )
    assert ended.returncode == 0, ended.stdout[-2000:] + ended.stderr[-6000:]
    return ended.stdout


def run_fences(readme: str, folder: Path) -> str:
    """Run them as one program; what it printed."""
    script = folder / "readme.py"
    script.write_text("\n".join(fences(readme, "python")), encoding="utf-8")
    return run([sys.executable, str(script)], folder)


def test_the_readme_runs_and_runs_again(tmp_path: Path) -> None:
    for _ in range(2):
        shown = run_fences("README.md", tmp_path)
        # What the reading fence promises to show.
        assert len(set(re.findall(r"\|(order \d+) *\|", shown))) == 100


def test_the_packages_readme_runs(tmp_path: Path) -> None:
    assert "subSequenceNumber: long" in run_fences("python/README.md", tmp_path)


def test_the_local_readme_runs(tmp_path: Path) -> None:
    run_fences("localstack/README.md", tmp_path)


def test_the_readmes_tests_pass(tmp_path: Path) -> None:
    for number, readme in enumerate(READMES):
        (fence,) = (f for f in fences(readme, "python") if "def test_" in f)
        (tmp_path / f"test_{number}.py").write_text(fence, encoding="utf-8")
    ended = run([sys.executable, "-m", "pytest", "-W", "error", "."], tmp_path)
    assert f"{len(READMES)} passed" in ended


def test_the_readme_generates_records(tmp_path: Path) -> None:
    (fence,) = (f for f in fences("README.md", "sh") if "spark_kinesis.generate" in f)
    with LocalKinesis(streams={"orders": 2}) as kinesis:
        command = fence.replace("http://127.0.0.1:4567", kinesis.endpoint)
        command = command.replace("--seconds 60", "--count 100")
        command = re.sub(r"^python ", f"{sys.executable} ", command)
        assert "100 written" in run(["bash", "-c", command], tmp_path)
        assert len(kinesis.records("orders")) == 100


def test_what_the_readmes_link_to_is_there() -> None:
    for readme in ("README.md", "localstack/README.md", "examples/README.md"):
        text = (ROOT / readme).read_text(encoding="utf-8")
        for target in re.findall(r"\]\(([^)#]+)\)", text):
            assert (ROOT / readme).parent.joinpath(target).exists(), f"{readme}: {target}"
