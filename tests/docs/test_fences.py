"""The code on every page, run as a reader would."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from spark_kinesis.local import LocalKinesis
from tests.docs.pages import ROOT, Page, all_pages, masked

pytestmark = pytest.mark.slow

PAGES = {page.name: page for page in all_pages()}
PROGRAMS = [name for name, page in PAGES.items() if page.fences("python")]
TESTS = [name for name in PROGRAMS if any("def test_" in it for it in PAGES[name].fences("python"))]
GENERATE = "spark-kinesis generate"
GENERATING = [
    name for name, page in PAGES.items() if any(it.startswith(GENERATE) for it in page.fences("sh"))
]


def run(command: list[str], folder: Path) -> str:
    """Run a command and return what it printed."""
    ended = subprocess.run(
        command,
        cwd=folder,
        env={**os.environ, "PYSPARK_PYTHON": sys.executable},
        timeout=900,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stdout[-2000:] + ended.stderr[-6000:]
    return ended.stdout


def run_page(page: Page, folder: Path) -> str:
    """Run the Python of a page as one program and return what it printed."""
    script = folder / "page.py"
    script.write_text("\n".join(page.fences("python")), encoding="utf-8")
    return run([sys.executable, str(script)], folder)


@pytest.mark.parametrize("name", [name for name in PROGRAMS if name != "README.md"])
def test_the_python_of_a_page_runs_and_prints_what_the_page_shows(
    name: str, tmp_path: Path
) -> None:
    said = masked(run_page(PAGES[name], tmp_path))
    for shown in PAGES[name].printed():
        assert masked(shown) in said


def test_the_readme_shows_what_it_wrote_and_runs_again(tmp_path: Path) -> None:
    for _ in range(2):
        shown = run_page(PAGES["README.md"], tmp_path)
        assert len(set(re.findall(r"\|(order \d+) *\|", shown))) == 100


@pytest.mark.parametrize("name", TESTS)
def test_the_tests_of_a_page_pass(name: str, tmp_path: Path) -> None:
    fences = [it for it in PAGES[name].fences("python") if "def test_" in it]
    for number, fence in enumerate(fences):
        (tmp_path / f"test_{number}.py").write_text(fence, encoding="utf-8")
    ended = run([sys.executable, "-m", "pytest", "."], tmp_path)
    assert f"{sum(fence.count('def test_') for fence in fences)} passed" in ended


@pytest.mark.parametrize("name", GENERATING)
def test_the_generator_of_a_page_writes_records(name: str, tmp_path: Path) -> None:
    (fence,) = (it for it in PAGES[name].fences("sh") if it.startswith(GENERATE))
    with LocalKinesis(streams={"orders": 2}) as kinesis:
        command = fence.replace("http://127.0.0.1:4567", kinesis.endpoint)
        command = command.replace("--duration 1m", "--count 100")
        command = command.replace("spark-kinesis ", f"{sys.executable} -m spark_kinesis ", 1)
        assert "100 records written" in run(["bash", "-c", command], tmp_path)
        assert len(kinesis.records("orders")) == 100


@pytest.mark.parametrize("name", [name for name, page in PAGES.items() if page.fences("json")])
def test_the_json_of_a_page_is_valid(name: str) -> None:
    for fence in PAGES[name].fences("json"):
        json.loads(fence)


def test_there_is_something_to_run() -> None:
    assert "README.md" in PROGRAMS
    assert TESTS
    assert GENERATING
    assert sum(page.text.count("<!-- printed -->") for page in PAGES.values()) == sum(
        len(page.printed()) for page in PAGES.values()
    )
    assert PAGES["docs/how-to/migrate.md"].printed()


@pytest.mark.parametrize("name", PAGES)
def test_the_links_of_a_page_lead_somewhere(name: str) -> None:
    page = PAGES[name]
    for link in page.links():
        if re.match(r"\w+:", link):
            continue
        path, _, anchor = link.partition("#")
        target = (ROOT / name).parent / path if path else ROOT / name
        assert target.exists(), f"{name}: {link}"
        if anchor:
            other = Page(name=os.path.relpath(target, ROOT))
            assert anchor in other.anchors(), f"{name}: {link}"
