"""The command that stops the job, with programs in place of `aws` and `yarn`."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
from pathlib import Path
from typing import Any

from terraform_cases import NEEDS_TERRAFORM, applied, submitted

pytestmark = NEEDS_TERRAFORM
__all__ = ["applied"]

FAKE = """#!/bin/sh
echo "$(basename $0) $*" >> calls
case "$*" in *list*) cat listed;; esac
"""


def stop(applied: Any, folder: Path, listed: str) -> list[str]:
    """The calls of `aws` or, in a step, of `yarn` that stop the job."""
    (folder / "listed").write_text(listed)
    (folder / "calls").unlink(missing_ok=True)
    for program in ("aws", "yarn"):
        (folder / program).write_text(FAKE)
        (folder / program).chmod(0o755)
    command = ["bash", "-c", applied["stop_job"]]
    if applied["variables"].get("compute") == "ec2":
        words = shlex.split(applied["stop_job"])
        (step,) = json.loads(words[words.index("--steps") + 1])
        command = step["Args"]
    path = f"{folder}:{os.environ['PATH']}"
    subprocess.run(command, cwd=folder, env={**os.environ, "PATH": path}, check=False)
    return (folder / "calls").read_text().splitlines()[1:]


def test_the_command_stops_the_job_and_no_other(applied: Any, tmp_path: Path) -> None:
    if applied["variables"].get("compute") == "ec2":
        assert (
            applied["resources"]["module.emr_ec2[0].aws_emr_cluster__job"]["step_concurrency_level"]
            == 2
        )
        names = submitted(applied["start_job"])
        assert names[names.index("--name") + 1] == "log-processing"
        heading = "                Application-Id\t    Application-Name\t    Application-Type\n"
        row = "application_170000000000{}_0001\t{:>20}\t               SPARK\n"
        other = heading + row.format(1, "log-processing-2") + row.format(2, "my-log-processing")
        assert stop(applied, tmp_path, other) == []
        killed = stop(applied, tmp_path, other + row.format(3, "log-processing"))
        assert killed == ["yarn application -kill application_1700000000003_0001"]
    else:
        assert stop(applied, tmp_path, "") == []
        calls = stop(applied, tmp_path, "run1\nrun2\n")
        assert [it.split()[-1] for it in calls] == ["run1", "run2"]
        for it in calls:
            assert it.startswith("aws emr-serverless cancel-job-run --region eu-west-1 --applic")
