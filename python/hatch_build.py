"""Puts the two jars that sbt built into the wheel, or refuses to make one without them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class JarsHook(BuildHookInterface[Any]):
    """Adds `spark_kinesis/jars/*.jar`."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Called before each build.

        Raises:
            FileNotFoundError: naming the missing jar and the command that makes it.
        """
        if version == "editable":
            return
        target = Path(self.root).parent / "target"
        for artifact in ("spark-kinesis", "spark-kinesis-simulator"):
            jar = target / f"{artifact}_2.13-{self.metadata.version}.jar"
            if not jar.is_file():
                raise FileNotFoundError(f"no {jar}: run `make jar` first (or `make wheel`)")
            build_data["force_include"][str(jar)] = f"spark_kinesis/jars/{jar.name}"
