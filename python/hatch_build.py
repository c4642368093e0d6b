"""Puts the jars and the publisher's addresses into the wheel and into the source distribution.

Without the jars, a build fails. sbt leaves them in `../target`. A source distribution carries them
in `jars/`, so that a wheel is built from it with Python alone. The environment variable
SPARK_KINESIS_SCALA names the Scala versions of the connector to include; `make` sets it to 2.13 for
the wheel of its own tests.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from hatchling.metadata.plugin.interface import MetadataHookInterface

EVERY_SCALA = "2.12,2.13"
_HINT = ", or set SPARK_KINESIS_SCALA=2.13 for a package without the jar for Spark 3.5"


class JarsHook(BuildHookInterface[Any]):
    """Adds `spark_kinesis/jars/*.jar` to a wheel and `jars/*.jar` to a source distribution."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Runs before each build.

        Raises:
            FileNotFoundError: names the missing jar and the command that makes it.
        """
        if version == "editable":
            return
        folder = "jars" if self.target_name == "sdist" else "spark_kinesis/jars"
        for name, command in self.jars():
            jar = self.found(name, command)
            build_data["force_include"][str(jar)] = f"{folder}/{name}"

    def jars(self) -> list[tuple[str, str]]:
        """The names of the jars, each with the command that makes it."""
        release = self.metadata.version
        scalas = os.environ.get("SPARK_KINESIS_SCALA", EVERY_SCALA).split(",")
        commands = {"2.13": "make jar", "2.12": "make jar-2.12"}
        connectors = [(f"spark-kinesis_{scala}-{release}.jar", commands[scala]) for scala in scalas]
        return [*connectors, (f"spark-kinesis-simulator_2.13-{release}.jar", "make jar")]

    def found(self, name: str, command: str) -> Path:
        """The path of a jar.

        Raises:
            FileNotFoundError: if there is no such jar.
        """
        root = Path(self.root)
        folder = root / "jars" if (root / "PKG-INFO").is_file() else root.parent / "target"
        if not (folder / name).is_file():
            raise FileNotFoundError(f"no {folder / name}: run `{command}` in the repository{_HINT}")
        return folder / name


class PublisherHook(MetadataHookInterface):
    """Adds the addresses in `publisher.properties` that are not empty."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Runs before each build."""
        lines = Path(self.root, "publisher.properties").read_text(encoding="utf-8").splitlines()
        pairs = [line.partition("=") for line in lines if not line.startswith("#")]
        publisher = {name.strip(): value.strip() for name, _, value in pairs}
        urls = metadata["urls"] = {}
        if site := publisher["site"]:
            urls["Documentation"] = site
        if repository := publisher["repository"]:
            urls["Source"] = repository
            urls["Changelog"] = f"{repository}/blob/main/CHANGELOG.md"
            urls["Issues"] = f"{repository}/issues"
        author = {"name": "The authors of spark-kinesis", "email": publisher["mail"]}
        metadata["authors"] = [{name: value for name, value in author.items() if value}]
