"""Environments with the lowest and the newest Python and packages that the package allows.

`python -m tests.pythons lowest -m pytest ...` goes on as the Python of such an environment. It has
the oldest Python on this machine that serves, and of each package that an extra in pyproject.toml
needs the lowest version. `newest` is the same with the newest ones. Spark and the installed wheel
are those of `.venv`, so that nothing large is downloaded twice.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import sysconfig
from importlib.metadata import metadata
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PROJECT = ROOT / "python" / "pyproject.toml"
PINS = ROOT / "python" / "requirements-dev.txt"
RESOLUTIONS = {"lowest": "lowest-direct", "newest": "highest"}
EXTRAS = ("cli", "monitoring", "testing", "watch")
# pandas brings NumPy.
TOOLS = ("cryptography", "fsspec", "hypothesis", "moto", "pandas", "pyarrow", "pytest")
OURS = ("py4j", "pyspark", "spark_kinesis")
VERSION = "import sys, venv; print(*sys.version_info[:2])"


def pythons() -> dict[tuple[int, int], str]:
    """The Pythons on this machine that Spark and the package support."""
    spark = "\n".join(metadata("pyspark").get_all("Classifier") or [])
    (oldest,) = versions(r'^requires-python = ">=(\d+)\.(\d+)"', PROJECT.read_text("utf-8"))
    newest = max(versions(r"Python :: (\d+)\.(\d+)$", spark))
    places = [
        *(shutil.which(f"python3.{minor}") for minor in range(oldest[1], newest[1] + 1)),
        *(str(it) for it in pyenv().glob("versions/3.*/bin/python3")),
    ]
    found = {version_of(sys.executable): sys.executable}
    for place in filter(None, places):
        found.setdefault(version_of(place), place)
    return {version: it for version, it in found.items() if oldest <= version <= newest}


def versions(pattern: str, text: str) -> list[tuple[int, int]]:
    """The versions that a text names."""
    return [(int(a), int(b)) for a, b in re.findall(pattern, text, re.MULTILINE)]


def pyenv() -> Path:
    """The folder of pyenv, which keeps Pythons that are not on the PATH."""
    return Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))


def version_of(python: str) -> tuple[int, int]:
    """The version of a Python; zeros if it does not start."""
    ended = subprocess.run([python, "-c", VERSION], check=False, capture_output=True, text=True)
    major, minor = ended.stdout.split() or ("0", "0")
    return int(major), int(minor)


def tools() -> list[str]:
    """What the tests need beside the package, as `.venv` has it."""
    lines = PINS.read_text(encoding="utf-8").splitlines()
    pins = [line.partition("#")[0].strip() for line in lines]
    return [pin for pin in pins if re.split(r"[\[=]", pin)[0] in TOOLS]


def environment(kind: str) -> Path:
    """The Python of the environment, created again if its requirements have changed."""
    found = pythons()
    version = (min if kind == "lowest" else max)(found)
    folder = ROOT / f".venv-python-{kind}"
    python, complete = folder / "bin" / "python", folder / "complete"
    made_of = f"{version} {tools()}\n{PROJECT.read_text(encoding='utf-8')}"
    if not complete.exists() or complete.read_text(encoding="utf-8") != made_of:
        uv("venv", "--clear", "--python", found[version], str(folder))
        extras = (f"--extra={extra}" for extra in EXTRAS)
        choice = ["--python", str(python), "--resolution", RESOLUTIONS[kind]]
        uv("pip", "install", *choice, "--requirement", str(PROJECT), *extras, *tools())
        (own,) = folder.glob("lib/python3*/site-packages")
        for name in OURS:
            for there in Path(sysconfig.get_path("purelib")).glob(f"{name}*"):
                if there.name == name or there.suffix == ".dist-info":
                    (own / there.name).symlink_to(there)
        complete.write_text(made_of, encoding="utf-8")
    return python


def uv(*arguments: str) -> None:
    """Run uv, which trusts what this machine trusts, as pip does."""
    subprocess.run(
        [sys.executable, "-m", "uv", "--quiet", "--system-certs", *arguments], check=True
    )


def main(kind: str, *arguments: str) -> None:
    """Become that Python."""
    python = str(environment(kind))
    os.execve(python, [python, *arguments], {**os.environ, "PYSPARK_PYTHON": python})


if __name__ == "__main__":
    main(*sys.argv[1:])
