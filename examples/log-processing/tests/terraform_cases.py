"""What Terraform makes of the files, for a few values of the variables."""

from __future__ import annotations

import json
import shlex
import shutil
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from terraform_stand_in import apply

TERRAFORM = shutil.which("terraform") or shutil.which("tofu") or ""

NEEDS_TERRAFORM = pytest.mark.skipif(
    not TERRAFORM, reason="neither terraform nor tofu is installed"
)

REGION = "eu-west-1"
KEY = f"arn:aws:kms:{REGION}:123456789012:key/1"
CASES = {
    "serverless": {},
    "serverless, consumer, own key": {"fan_out_consumer": "logs", "kms_key_arn": KEY},
    "ec2": {
        "compute": "ec2",
        "executors": "3",
        "stream_mode": "ON_DEMAND",
        "zones": '["eu-west-1a"]',
        "alarm_email": "on@call.example",
    },
}


@cache
def applied_case(name: str) -> dict[str, Any]:
    """What Terraform makes of the folder in a case, and the variables. Tests only read it."""
    with TemporaryDirectory() as work:
        done = apply(TERRAFORM, Path(work), region=REGION, **CASES[name])
    return {**done, "variables": CASES[name]}


@pytest.fixture(params=CASES)
def applied(request: pytest.FixtureRequest) -> dict[str, Any]:
    """The cases, one after the other."""
    return applied_case(request.param)


def submitted(command: str) -> list[str]:
    """The arguments of `spark-submit` in a command that starts the job."""
    words = shlex.split(command)
    if "--steps" in words:
        (step,) = json.loads(words[words.index("--steps") + 1])
        arguments: list[str] = step["Args"][1:]
        return arguments
    run = json.loads(words[words.index("--job-driver") + 1])["sparkSubmit"]
    return [*run["sparkSubmitParameters"].split(), run["entryPoint"], *run["entryPointArguments"]]
