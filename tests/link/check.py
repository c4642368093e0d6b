"""Links the connector jar against every supported Spark and writes docs/reference/link-check.md.

If nothing is broken, it also writes what the jar refers to in Spark. CI has no time to download
every Spark, so `tests/packaging/test_link.py` compares the jar with that list.

Each Spark's jars come out of pip's pyspark (430 MB a download, one at a time; only the jars the
check looks into are kept, under target/link). The bytecode is read with the ASM that Spark 4.0
carries.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from tests.sparks import SERVED

ROOT = Path(__file__).resolve().parents[2]
CACHE = ROOT / "target" / "link"
REPORT = ROOT / "docs" / "reference" / "link-check.md"
REFERENCES = ROOT / "tests" / "golden" / "spark-references.txt"
NEEDED = (
    "spark-",
    "scala-",
    "slf4j-api-",
    "log4j-",
    "hadoop-client-",
    "parquet-",
    "metrics-core-",
    "avro-",
    "snappy-java-",
    "zstd-jni-",
)

HEAD = """\
# Link check

`make link-check` resolves every class, method and field that the connector jar refers to against
the jars of each supported Spark version. It also looks for interface methods without an
implementation. Spark 4.0 lacks real-time mode, so it loads two classes less.

If nothing is broken, the command writes all references to Spark into
`tests/golden/spark-references.txt`. `make test` fails if the jar has other references than this
list. Then run `make link-check` again. Last result:

| Spark | Classes in the jar | References | Broken references |
|---|--:|--:|--:|
"""


@dataclass(frozen=True, kw_only=True)
class Result:
    """What one Spark said."""

    spark: str
    classes: str
    references: str
    broken: list[str]


def jars_of(spark: str) -> Path:
    """A folder with the jars of a Spark, downloaded if need be."""
    folder = CACHE / spark
    if all(any(folder.glob(f"{name}*")) for name in NEEDED):
        return folder
    shutil.rmtree(folder, ignore_errors=True)  # kept when fewer were needed
    with tempfile.TemporaryDirectory(dir=CACHE) as scratch:
        download = ["pip", "download", "--quiet", "--no-deps", "--no-binary", ":all:"]
        command = [sys.executable, "-m", *download, "--dest", scratch, f"pyspark=={spark}"]
        subprocess.run(command, check=True)
        (archive,) = Path(scratch).glob("pyspark-*.tar.gz")
        kept = Path(scratch) / "jars"
        kept.mkdir()
        extract(archive, kept)
        kept.rename(folder)
    return folder


def extract(archive: Path, folder: Path) -> None:
    """The jars we look into, out of pyspark's source archive."""
    with tarfile.open(archive) as opened:
        for member in opened:
            name = Path(member.name)
            wanted = name.suffix == ".jar" and name.name.startswith(NEEDED)
            content = opened.extractfile(member) if wanted else None
            if content is not None:
                with (folder / name.name).open("wb") as out:
                    shutil.copyfileobj(content, out)


def asm() -> Path:
    """The ASM in .venv's Spark."""
    pyspark = find_spec("pyspark")
    homes = (pyspark and pyspark.submodule_search_locations) or ()
    (jar,) = (jar for home in homes for jar in (Path(home) / "jars").glob("xbean-asm9-*.jar"))
    return jar


def program(*arguments: Path) -> subprocess.CompletedProcess[str]:
    """Run LinkCheck."""
    java = str(Path(os.environ.get("JAVA_HOME", "")) / "bin" / "java")
    source = str(Path(__file__).with_name("LinkCheck.java"))
    command = [java if Path(java).exists() else "java", "-Xmx3g", "-cp", str(asm()), source]
    command += [str(it) for it in arguments]
    return subprocess.run(command, check=False, capture_output=True, text=True)


def references(jar: Path) -> str:
    """What a jar refers to in Spark, line by line.

    Raises:
        RuntimeError: with the program's words, when it could not finish.
    """
    ended = program(jar)
    if ended.returncode != 0:
        raise RuntimeError(ended.stderr)
    return ended.stdout


def check(jar: Path, spark: str) -> Result:
    """Link one jar against one Spark.

    Raises:
        RuntimeError: with the program's words, when it could not finish.
    """
    ended = program(jar, jars_of(spark))
    first, *rest = ended.stdout.splitlines() or [""]
    if not first.startswith("checked "):
        raise RuntimeError(ended.stderr)
    _, classes, references = first.split()
    broken = [line.removeprefix("broken ") for line in rest]
    return Result(spark=spark, classes=classes, references=references, broken=broken)


def main() -> int:
    """Check every Spark; 1 if anything is broken."""
    CACHE.mkdir(parents=True, exist_ok=True)
    version = (ROOT / "python/src/spark_kinesis/VERSION").read_text().strip()
    jar = ROOT / "target" / f"spark-kinesis_2.13-{version}.jar"
    results = [check(jar, spark) for spark in SERVED]
    rows = [f"| {r.spark} | {r.classes} | {r.references} | {len(r.broken)} |" for r in results]
    REPORT.write_text(HEAD + "\n".join(rows) + "\n")
    for result in results:
        for line in result.broken:
            print(f"Spark {result.spark}: {line}")
    print("\n".join(rows))
    if any(result.broken for result in results):
        return 1
    REFERENCES.write_text(references(jar), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
