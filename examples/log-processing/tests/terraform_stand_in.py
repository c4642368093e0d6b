"""Runs the Terraform files without AWS: each resource becomes Terraform's own `terraform_data`.

So Terraform evaluates each expression and type of the folder, and its outputs. It does not know
the arguments of AWS' resources.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
from functools import partial
from pathlib import Path
from typing import Any

from terraform_files import FOLDERS, ROOT, Folder, read_folder

_RESOURCE = re.compile(r"(?<![\w.])(aws_\w+)\.(\w+)((?:\[[^\]]*\])?)(\.?)")
_KNOWN = {
    "data.aws_caller_identity.here.account_id": '"123456789012"',
    "data.aws_availability_zones.here.names": '["eu-west-1a", "eu-west-1b", "eu-west-1c"]',
}
_META = ("count", "for_each")


def own_environment() -> dict[str, str]:
    """The environment of Terraform: no settings of the machine, no look for a newer version."""
    kept = {name: it for name, it in os.environ.items() if not name.startswith("TF_")}
    return {**kept, "CHECKPOINT_DISABLE": "1"}


def translate(value: Any, folder: Folder) -> Any:
    """A value that refers to the stand-ins instead of the resources."""
    if isinstance(value, list):
        return [translate(it, folder) for it in value]
    if isinstance(value, dict):
        return {key: translate(it, folder) for key, it in value.items()}
    if not isinstance(value, str):
        return value
    for name, literal in _KNOWN.items():
        value = value.replace(name, literal)

    def stand_in(match: re.Match[str]) -> str:
        of, name, index, dot = match.groups()
        data = f"terraform_data.{of}__{name}{index}"
        if not dot and not index and "for_each" in folder.resources[f"{of}.{name}"]:
            return f"{{for key, it in {data} : key => it.output}}"
        return f"{data}.output{dot}"

    return re.sub(r"\$\{.*\}", lambda it: _RESOURCE.sub(stand_in, it[0]), value, flags=re.DOTALL)


def resource(name: str, block: dict[str, Any], folder: Folder) -> dict[str, Any]:
    """The stand-in of a resource. Its output has the arguments, and what AWS would add."""
    service = name.split("_")[1]
    added = {
        "id": name,
        "arn": f"arn:aws:{service}:eu-west-1:123456789012:{name}",
        "url": f"https://{name}",
        "prefix_list_id": "pl-1",
    }
    arguments = {key: it for key, it in block.items() if key not in (*_META, "depends_on")}
    repeated = {key: block[key] for key in _META if key in block}
    stand_in: dict[str, Any] = translate({**repeated, "input": {**added, **arguments}}, folder)
    return stand_in


def write(folder: Folder, target: Path) -> None:
    """Write a folder in Terraform's JSON syntax, with stand-ins."""
    typed = {
        name: {**it, "type": it["type"].removeprefix("${").removesuffix("}")}
        for name, it in folder.variables.items()
    }
    resources = {
        name.replace(".", "__"): resource(name, it, folder)
        for name, it in folder.resources.items()
        if not name.startswith("data.")
    }
    blocks = {
        "variable": typed,
        "locals": translate(folder.values, folder),
        "output": translate(folder.outputs, folder),
        "module": translate(folder.modules, folder),
        "resource": {"terraform_data": resources},
    }
    target.mkdir(parents=True, exist_ok=True)
    if not resources:
        del blocks["resource"]
    text = json.dumps({kind: it for kind, it in blocks.items() if it})
    (target / "main.tf.json").write_text(text, encoding="utf-8")


def apply(terraform: str, work: Path, **variables: str) -> dict[str, Any]:
    """Apply the whole folder to stand-ins.

    Args:
        terraform: the program.
        work: an empty folder.
        variables: values of the variables of the root.

    Returns:
        The values of all outputs and, as ``resources``, the arguments of all resources by
        their address.
    """
    for folder in FOLDERS:
        write(read_folder(folder), work / folder.relative_to(ROOT))
    environment = {**own_environment(), **{f"TF_VAR_{k}": it for k, it in variables.items()}}

    run = partial(_run, terraform, work, environment)
    run("init", "-no-color", "-input=false")
    run("apply", "-no-color", "-input=false", "-auto-approve")
    state = json.loads(run("show", "-json"))["values"]
    return {
        **{name: it["value"] for name, it in state["outputs"].items()},
        "resources": dict(_resources(state["root_module"])),
    }


def _run(terraform: str, work: Path, environment: dict[str, str], *arguments: str) -> str:
    ended = subprocess.run(
        [terraform, *arguments],
        cwd=work,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    if ended.returncode:
        raise AssertionError(ended.stdout + ended.stderr)
    return ended.stdout


def _resources(module: dict[str, Any]) -> list[tuple[str, Any]]:
    own = [
        (it["address"].replace("terraform_data.", ""), it["values"]["output"])
        for it in module.get("resources", [])
    ]
    return own + [pair for it in module.get("child_modules", []) for pair in _resources(it)]
