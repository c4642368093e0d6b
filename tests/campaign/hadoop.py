"""Jars of Hadoop, in the version of Spark's Hadoop."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pyspark

from tests.campaign.rounds import FOLDER
from tests.spark_versions import java

JARS = Path(pyspark.__file__).parent / "jars"


def hadoop_jars(module: str, *options: str) -> list[Path]:
    """A module of Hadoop. Ivy downloads it once.

    Args:
        module: its name on Maven Central.
        options: of Ivy. `-notransitive` leaves out what the module needs.
    """
    (client,) = JARS.glob("hadoop-client-api-*.jar")
    version = client.stem.removeprefix("hadoop-client-api-")
    folder = FOLDER / "jars" / f"{module}-{version}"
    if not folder.exists():
        (ivy,) = JARS.glob("ivy-*.jar")
        part = folder.with_name(f"{folder.name}.part")
        pattern = f"{part}/[artifact]-[revision](-[classifier]).[ext]"
        wanted = ["-dependency", "org.apache.hadoop", module, version, "-confs", "default"]
        command = [java(), "-jar", str(ivy), *wanted, *options, "-retrieve", pattern]
        subprocess.run(command, check=True)  # Ivy prints its progress
        part.rename(folder)
    return sorted(folder.glob("*.jar"))
