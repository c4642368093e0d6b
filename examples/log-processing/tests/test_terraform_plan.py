"""The Terraform files, evaluated by Terraform itself. Without AWS: see terraform_stand_in.py."""

from __future__ import annotations

import json
import re
import subprocess
from typing import Any

import pytest
from terraform_cases import NEEDS_TERRAFORM, TERRAFORM, applied, submitted
from terraform_files import ROOT
from terraform_stand_in import own_environment
from test_terraform import JOB, READER

from log_processing.settings import Settings, read_settings

pytestmark = NEEDS_TERRAFORM
__all__ = ["applied"]


def policy(applied: Any, name: str) -> list[dict[str, Any]]:
    """The statements of a policy."""
    statements: list[dict[str, Any]] = json.loads(applied["resources"][name]["policy"])["Statement"]
    return statements


def allowed(statements: list[dict[str, Any]]) -> set[str]:
    """The actions of statements."""
    return {action for it in statements for action in it["Action"]}


def settings_of(command: str) -> Settings:
    """The settings of the job that a command starts. The job accepts them."""
    arguments = submitted(command)
    (job,) = (n for n, it in enumerate(arguments) if it.endswith("/job.py"))
    return read_settings(arguments[job + 1 :], {})


def test_the_job_has_exactly_its_permissions(applied: Any) -> None:
    variables = applied["variables"]
    left_out = {
        "kinesis with a consumer": "fan_out_consumer" not in variables,
        "kms": "kms_key_arn" not in variables,
        "logs": variables.get("compute") == "ec2",
    }
    expected = {
        f"{service.split()[0]}:{action}"
        for service, actions in JOB.items()
        if not left_out.get(service)
        for action in actions
    }
    statements = policy(applied, "module.job_role.aws_iam_role_policy__job")
    assert allowed(statements) == expected
    for statement in statements:
        for it in statement["Resource"]:
            assert re.fullmatch(r"arn:aws:\w+:[\w-]*:\d{12}:.+", it), it


def test_a_reader_can_only_query(applied: Any) -> None:
    statements = policy(applied, "module.job_role.aws_iam_policy__reader")
    key = {"kms:Decrypt"} if "kms_key_arn" in applied["variables"] else set()
    assert allowed(statements) == READER | key


def test_the_endpoints_allow_the_job_what_its_role_allows(applied: Any) -> None:
    job = policy(applied, "module.job_role.aws_iam_role_policy__job")
    of_job = {(it["Sid"], action) for it in job for action in it["Action"]}
    role = applied["resources"]["module.job_role.aws_iam_role__job"]["arn"]
    endpoints = [it for it in applied["resources"] if "aws_vpc_endpoint__" in it]
    found: set[tuple[str, str]] = set()
    for endpoint in endpoints:
        for it in policy(applied, endpoint):
            if it["Sid"] == "PackagesOfTheCluster":
                assert applied["variables"]["compute"] == "ec2"
                continue
            assert it["Condition"] == {"ArnEquals": {"aws:PrincipalArn": role}}
            found.update((it["Sid"], action) for action in it["Action"])
    assert found == {it for it in of_job if not it[1].startswith("kms:")}


def test_the_job_accepts_the_options_of_the_command(applied: Any) -> None:
    settings = settings_of(applied["start_job"])
    assert settings.stream_names == (applied["stream_name"],)
    assert settings.table == applied["table_name"]
    assert settings.consumer == applied["variables"].get("fan_out_consumer")
    assert settings.retention_days == 30
    assert settings.checkpoint == applied["checkpoint_folder"]
    assert settings.bad_events == applied["bad_events_folder"]
    for folder in (settings.checkpoint, settings.bad_events):
        assert re.fullmatch(r"s3://[^/]+/(checkpoint/log-processing|bad-events)", folder)


def test_the_command_names_the_files_that_are_uploaded(applied: Any) -> None:
    uploaded = set(re.findall(r" (s3://\S+)$", applied["upload_code"], re.MULTILINE))
    named = set(re.findall(r"s3://[^\s\",#]+/code/[^\s\",#]+", applied["start_job"]))
    assert uploaded == named
    assert len(named) == 4
    assert not re.search(r"APPLICATION|JOB_ROLE|CLUSTER", applied["start_job"])


def test_a_batch_has_a_task_per_core_of_the_executors(applied: Any) -> None:
    executors = int(applied["variables"].get("executors", 2))
    assert f"spark.default.parallelism={2 * executors}" in submitted(applied["start_job"])
    assert "spark.executor.cores=2" in submitted(applied["start_job"])


def test_an_outage_does_not_use_up_the_attempts_of_an_hour(applied: Any) -> None:
    # Spark runs a task four times, and each time it repeats a write for this long.
    attempt_seconds = 4 * settings_of(applied["start_job"]).write_timeout
    cluster = applied["resources"].get("module.emr_ec2[0].aws_emr_cluster__job")
    if cluster is None:
        (allowed,) = re.findall(r"maxFailedAttemptsPerHour=(\d+)", applied["start_job"])
    else:
        (site,) = json.loads(cluster["configurations_json"])
        (allowed,) = site["Properties"].values()
        assert f"spark.yarn.maxAppAttempts={allowed}" in submitted(applied["start_job"])
    assert 3600 / attempt_seconds < int(allowed)


def test_the_stream_is_behind_if_nothing_reads_it(applied: Any) -> None:
    alarm = applied["resources"]['module.alarms.aws_cloudwatch_metric_alarm__each["behind"]']
    assert alarm["treat_missing_data"] == "breaching"
    assert ("ConsumerName" in alarm["dimensions"]) == ("fan_out_consumer" in applied["variables"])


def test_the_files_have_terraforms_format() -> None:
    command = [TERRAFORM, "fmt", "-check", "-recursive", str(ROOT)]
    subprocess.run(command, check=True, env=own_environment())


@pytest.mark.skipif(
    not (ROOT / ".terraform" / "providers").exists(),
    reason="run `terraform init` in the folder terraform first: it downloads the AWS provider",
)
def test_the_files_are_valid_for_the_aws_provider() -> None:
    command = [TERRAFORM, f"-chdir={ROOT}", "validate"]
    subprocess.run(command, check=True, env=own_environment())
