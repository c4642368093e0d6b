"""The Sparks we serve, and the tests' environments on those that are not `.venv`'s own.

`python -m tests.sparks 4.2.1 -m pytest ...` goes on as the Python of such an environment.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
import venv
from importlib.metadata import version
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
# The newest release of each minor version that the registries have whole, the oldest first.
SERVED = ("4.0.5", "4.1.4", "4.2.1", "4.3.0")
NEWEST = SERVED[-1]


def check_served(spark: str) -> None:
    """End with the list of those there are, unless this is one of them."""
    if spark not in SERVED:
        sys.exit(f"SPARK is '{spark}': expected one of {', '.join(SERVED)}")


def python_on(spark: str) -> Path:
    """The Python of an environment with this Spark, made if need be (430 MB to download).

    It has everything this one has, the installed wheel too, from this one: only its pyspark hides
    ours. So the tests see the same packages on each Spark, and there is one place to install into.
    """
    if spark == version("pyspark"):
        return Path(sys.executable)
    folder = ROOT / f".venv-spark-{spark}"
    python, complete = folder / "bin" / "python", folder / "complete"
    if not complete.exists():
        shutil.rmtree(folder, ignore_errors=True)
        venv.create(folder, with_pip=True)
        install = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([str(python), *install, f"pyspark=={spark}"], check=True)
        (own,) = folder.glob("lib/python3*/site-packages")
        ours = sysconfig.get_path("purelib")
        # Not the bare path: .pth files in there count too.
        (own / "ours.pth").write_text(f"import site; site.addsitedir({ours!r})\n")
        complete.touch()
    return python


def main(spark: str, *arguments: str) -> None:
    """Become that Python."""
    check_served(spark)
    python = str(python_on(spark))
    os.execve(python, [python, *arguments], {**os.environ, "PYSPARK_PYTHON": python})


if __name__ == "__main__":
    main(*sys.argv[1:])
