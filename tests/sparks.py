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
from pathlib import Path

import pyspark

ROOT = Path(__file__).resolve().parents[1]
LIST = ROOT / "project" / "spark-versions"
ALL = tuple(
    line.split()[0]
    for line in LIST.read_text(encoding="utf-8").splitlines()
    if line and not line.startswith("#")
)
# Spark 3.5 has Scala 2.12, and so a jar of its own: docs/adr/0010-spark-3-5.md.
SPARK_35, *_SPARK_4 = ALL
SERVED = tuple(_SPARK_4)
NEWEST = SERVED[-1]


def check_known(spark: str) -> None:
    """End with the list of those there are, unless this is one of them."""
    if spark not in ALL:
        sys.exit(f"SPARK is '{spark}': expected one of {', '.join(ALL)}")


def python_on(spark: str) -> Path:
    """The Python of an environment with this Spark, made if need be (430 MB to download).

    It has everything this one has, the installed wheel too, from this one: only its pyspark hides
    ours. So the tests see the same packages on each Spark, and there is one place to install into.
    """
    if spark == pyspark.__version__:
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


def settings_on(spark: str) -> dict[str, str]:
    """What the tests' environment says beside its Spark."""
    if spark != SPARK_35:
        return {}
    release = (ROOT / "python/src/spark_kinesis/VERSION").read_text(encoding="utf-8").strip()
    return {
        "SPARK_KINESIS_JAR": str(ROOT / "target" / f"spark-kinesis_2.12-{release}.jar"),
        # The local Kinesis is Scala 2.13, which it takes from our own Spark.
        "SIMULATOR_SPARK_HOME": str(Path(pyspark.__file__).parent),
    }


def main(spark: str, *arguments: str) -> None:
    """Become that Python."""
    check_known(spark)
    python = str(python_on(spark))
    environment = {**os.environ, **settings_on(spark), "PYSPARK_PYTHON": python}
    os.execve(python, [python, *arguments], environment)


if __name__ == "__main__":
    main(*sys.argv[1:])
