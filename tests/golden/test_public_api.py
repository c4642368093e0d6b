"""The public signatures, which semantic versioning is about: a change of one is a change of a file.

`UPDATE_GOLDEN=1` writes the files again. RELEASING.md says which versions may change what.
"""

from __future__ import annotations

import inspect
import os
import re
import subprocess
from dataclasses import fields, is_dataclass
from difflib import unified_diff
from enum import Enum
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import Any, get_args

import spark_kinesis
from spark_kinesis import jar_path

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "reference" / "python-api.md"
# What users name in settings, or call or implement in Scala and Java. Nothing else is public.
SCALA = [
    "sparkkinesis.client.access.AwsKeys",
    "sparkkinesis.client.access.CredentialsProvider",
    "sparkkinesis.spark.KinesisExtensions",
    "sparkkinesis.spark.KinesisFunctions",
    "sparkkinesis.spark.KinesisTableProvider",
    "sparkkinesis.spark.SparkKinesisTableProvider",
    "sparkkinesis.spark.monitor.MetricsListener",
]


def check(name: str, lines: list[str]) -> None:
    """Compare with a file in `api`."""
    golden = Path(__file__).parent / "api" / name
    if os.environ.get("UPDATE_GOLDEN") == "1":
        golden.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    known = golden.read_text(encoding="utf-8").splitlines()
    changes = list(unified_diff(known, lines, n=0, lineterm=""))[2:]
    advice = "If the change is wanted, run this test with UPDATE_GOLDEN=1"
    assert not changes, "\n".join([f"{name} differs. {advice}", *changes])


def test_the_python_api_is_the_published_one() -> None:
    exported = [f"spark_kinesis.{name}" for name in spark_kinesis.__all__]
    documented = re.findall(r"^::: (\S+)$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    check("python.txt", [it for path in sorted({*exported, *documented}) for it in described(path)])


def described(path: str) -> list[str]:
    """A function, a class with its members, a module with its constants, or a union of types."""
    module, _, name = path.rpartition(".")
    found = getattr(import_module(module), name)
    if inspect.ismodule(found):
        named = ((it, value) for it, value in vars(found).items() if it.isupper())
        texts = sorted((it, value) for it, value in named if isinstance(value, str))
        return [path, *(f"{path}.{it} = {value!r}" for it, value in texts)]
    if inspect.isclass(found):
        bases = ", ".join(base.__name__ for base in found.__bases__ if base is not object)
        members = [f"{path}.{it}{kind(value)}" for it, value in sorted(members_of(found).items())]
        return [f"class {path}({bases}){created(found)}", *members]
    if inspect.isfunction(found):
        return [f"{path}{signature(found)}"]
    union = " | ".join(it.__name__ if isinstance(it, type) else repr(it) for it in get_args(found))
    return [f"{path} = {union}" if union else path]


def members_of(found: type) -> dict[str, Any]:
    """What is public in a class and comes from one of ours."""
    ours = [it for it in found.__mro__ if it.__module__.startswith("spark_kinesis")]
    names = {name for it in ours for name in vars(it) if not name.startswith("_")}
    if is_dataclass(found):
        names -= {it.name for it in fields(found)}  # the signature has them
    if issubclass(found, Enum):
        names |= found.__members__.keys()
    return {name: inspect.getattr_static(found, name) for name in names}


def kind(member: Any) -> str:
    """How a method is called, or which type a property has."""
    if isinstance(member, staticmethod | classmethod):
        return f"{signature(member.__func__)} [{type(member).__name__}]"
    if isinstance(member, property | cached_property):
        getter = member.fget if isinstance(member, property) else member.func
        return f": {inspect.signature(getter).return_annotation}" if getter else ""
    if isinstance(member, Enum):
        return f" = {member.value!r}"
    return signature(member) if callable(member) else ""


def created(found: type) -> str:
    """The arguments of a class. Each Python has others for an enumeration."""
    try:
        return "" if issubclass(found, Enum) else signature(found)
    except ValueError:  # an exception in C
        return ""


def signature(found: Any) -> str:
    """As it is written, without the addresses of default values."""
    return re.sub(r" at 0x\w+", "", str(inspect.signature(found)))


def test_the_scala_api_is_the_published_one() -> None:
    javap = Path(os.environ.get("JAVA_HOME", "")) / "bin" / "javap"
    command = [str(javap) if javap.is_file() else "javap", "-public", "-cp", jar_path(), *SCALA]
    said = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    declared = [it for it in said.splitlines() if "$anonfun$" not in it and "Compiled" not in it]
    check("scala.txt", declared)
