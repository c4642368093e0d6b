"""The Terraform files of the application, parsed."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import hcl2

ROOT = Path(__file__).resolve().parent.parent / "terraform"
FILES = sorted(ROOT.rglob("*.tf"))
FOLDERS = sorted({file.parent for file in FILES})
_HEREDOC = re.compile(r'^"?<<-?(\w+)\n(.*?)\n?\s*\1"?$', re.DOTALL)


def plain(value: Any) -> Any:
    """What the parser returns, without its marks: strings have no quotes, blocks no flags.

    An expression keeps its ``${...}``, as in Terraform's JSON syntax.
    """
    if isinstance(value, list):
        return [plain(it) for it in value]
    if isinstance(value, dict):
        kept = {key: it for key, it in value.items() if not key.startswith("__")}
        return {key.strip('"'): plain(it) for key, it in kept.items()}
    if isinstance(value, str):
        heredoc = _HEREDOC.match(value)
        if heredoc:
            lines = heredoc[2].split("\n")
            margin = min(len(it) - len(it.lstrip()) for it in lines if it.strip())
            return "".join(it[margin:] + "\n" for it in lines)
        if len(value) > 1 and value[0] == value[-1] == '"':
            return value[1:-1]
    return value


def strings(value: Any) -> Iterator[str]:
    """All strings in a value, also the keys of its objects."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for key, it in value.items():
            yield key
            yield from strings(it)
    elif isinstance(value, list):
        for it in value:
            yield from strings(it)


@dataclass
class Folder:
    """A module: all files of one folder.

    Attributes:
        resources: by ``type.name``. Data sources are ``data.type.name``.
    """

    path: Path
    variables: dict[str, Any] = field(default_factory=dict)
    values: dict[str, Any] = field(default_factory=dict)
    outputs: dict[str, Any] = field(default_factory=dict)
    modules: dict[str, Any] = field(default_factory=dict)
    resources: dict[str, Any] = field(default_factory=dict)
    other: list[Any] = field(default_factory=list)

    @property
    def everything(self) -> list[Any]:
        """All blocks."""
        named = (self.variables, self.values, self.outputs, self.modules, self.resources)
        return [*named, *self.other]


def read_folder(path: Path) -> Folder:
    """Parse the files of a folder."""
    folder = Folder(path=path)
    named = {
        "variable": folder.variables,
        "output": folder.outputs,
        "module": folder.modules,
    }
    for file in sorted(path.glob("*.tf")):
        for kind, blocks in plain(hcl2.loads(file.read_text(encoding="utf-8"))).items():
            for block in blocks:
                if kind == "locals":
                    folder.values.update(block)
                elif kind in named:
                    named[kind].update(block)
                elif kind in ("resource", "data"):
                    start = "data." if kind == "data" else ""
                    for of, it in block.items():
                        folder.resources.update({f"{start}{of}.{name}": it[name] for name in it})
                else:
                    folder.other.append({kind: block})
    return folder
