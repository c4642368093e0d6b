"""The Terraform files: what can be checked without AWS and without Terraform."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import botocore.session
import hcl2
import pytest
from botocore import xform_name
from terraform_files import FILES, FOLDERS, ROOT, Folder, read_folder, strings

import log_processing

# What the application may do on AWS. Kinesis: docs/how-to/iam.md. S3: Spark's checkpoint, the
# Parquet files of bad events, the code. Logs: the driver's log on EMR Serverless.
JOB = {
    "kinesis": {"DescribeStreamSummary", "ListShards", "GetShardIterator", "GetRecords"},
    "kinesis with a consumer": {
        "RegisterStreamConsumer",
        "DescribeStreamConsumer",
        "SubscribeToShard",
    },
    "dynamodb": {"DescribeTable", "DescribeTimeToLive", "BatchWriteItem"},
    "events": {"DescribeEventBus", "PutEvents"},
    "s3": {"ListBucket", "GetObject", "PutObject", "DeleteObject", "AbortMultipartUpload"},
    "logs": {"DescribeLogGroups", "CreateLogStream", "DescribeLogStreams", "PutLogEvents"},
    "kms": {"Decrypt", "GenerateDataKey"},
}
READER = {"dynamodb:Query"}
# Policies of other modules: who may assume a role, what services may do for the application.
OTHERS = {
    "bucket/main.tf": {"s3:*"},  # denied without TLS
    "events/main.tf": {"sqs:SendMessage"},
    "job_role/main.tf": {"sts:AssumeRole"},
    "network/endpoints.tf": {"s3:GetObject"},  # packages of a new cluster
    "emr_ec2/main.tf": {"sts:AssumeRole", "iam:PassRole"},
    "alarms/topic.tf": {"sns:Publish"},
}
# Parts of the package that run only on a developer's machine.
LOCAL = ("demo", "producer.py")

REFERENCE = re.compile(r"(?<![\w.])(var|local|module)\.(\w+)(?:\[[^\]]*\])?(?:\.(\w+))?")
RESOURCE = re.compile(r"(?<![\w.])((?:data\.)?aws_\w+\.\w+)")
SECRET = re.compile(
    r"AKIA|-----BEGIN|\b\d{12}\b|(?i:password|secret|token|access_key)\w*\s*=\s*\"",
)

NAMES = [str(folder.relative_to(ROOT)) for folder in FOLDERS]
MODULES = {name: read_folder(ROOT / name) for name in NAMES}


def actions(file: Path) -> set[str]:
    """All actions in the policies of a file."""
    lists = re.findall(r"\bAction\s*=\s*\[(.*?)\]", file.read_text(encoding="utf-8"), re.DOTALL)
    return {action for it in lists for action in re.findall(r'"([^"]+)"', it)}


def calls(service: str) -> Iterator[str]:
    """The operations of a service that the application's code calls through boto3."""
    model = botocore.session.get_session().get_service_model(service)
    operations = {xform_name(name): name for name in model.operation_names}
    package = Path(log_processing.__file__).parent
    for file in package.rglob("*.py"):
        if file.relative_to(package).parts[0] in LOCAL:
            continue
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Attribute) and node.attr in operations:
                yield operations[node.attr]


def source(module: str) -> str:
    """The folder that a module of the root comes from."""
    return str(MODULES["."].modules[module]["source"]).removeprefix("./")


def known(folder: Folder) -> set[str]:
    """What an expression of a folder may refer to."""
    outputs = {
        f"module.{name}.{output}"
        for name in folder.modules
        for output in MODULES[source(name)].outputs
    }
    names = {f"var.{it}" for it in folder.variables} | {f"local.{it}" for it in folder.values}
    return names | outputs | set(folder.resources)


def references(folder: Folder) -> set[str]:
    """What the expressions of a folder refer to."""
    found = set()
    for text in strings(folder.everything):
        for kind, name, output in REFERENCE.findall(text):
            found.add(f"module.{name}.{output}" if kind == "module" else f"{kind}.{name}")
        found.update(RESOURCE.findall(text))
    return found


@pytest.mark.parametrize("file", FILES, ids=lambda it: str(it.relative_to(ROOT)))
def test_a_file_can_be_parsed(file: Path) -> None:
    assert hcl2.loads(file.read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", NAMES)
def test_variables_and_outputs_say_what_they_are(name: str) -> None:
    for it in MODULES[name].variables.values():
        assert it["description"].endswith(".")
        assert it["type"]
    for it in MODULES[name].outputs.values():
        assert it["description"].endswith(".")


def test_versions_are_pinned() -> None:
    (terraform,) = (it["terraform"] for it in MODULES["."].other if "terraform" in it)
    assert re.fullmatch(r">= [\d.]+, < 2\.0\.0", terraform["required_version"])
    (providers,) = terraform["required_providers"]
    assert set(providers) == {"aws"}
    assert re.fullmatch(r"~> \d+\.\d+", providers["aws"]["version"])
    release = MODULES["."].variables["emr_release"]["default"]
    assert re.fullmatch(r"emr-7\.\d+\.\d+", release)


@pytest.mark.parametrize("name", NAMES)
def test_each_reference_leads_somewhere(name: str) -> None:
    assert references(MODULES[name]) - known(MODULES[name]) == set()


@pytest.mark.parametrize("name", NAMES)
def test_nothing_is_defined_in_vain(name: str) -> None:
    folder = MODULES[name]
    defined = {it for it in known(folder) if it.startswith(("var.", "local.", "module.", "data."))}
    assert defined - references(folder) == set()


@pytest.mark.parametrize("name", sorted(MODULES["."].modules))
def test_a_module_receives_exactly_what_it_asks_for(name: str) -> None:
    passed = set(MODULES["."].modules[name]) - {"source", "count"}
    variables = MODULES[source(name)].variables
    assert passed <= set(variables)
    assert {it for it, block in variables.items() if "default" not in block} <= passed


def test_all_modules_are_used() -> None:
    assert {source(it) for it in MODULES["."].modules} == set(NAMES) - {"."}


def test_the_application_may_do_exactly_what_it_does() -> None:
    job = {f"{of.split()[0]}:{it}" for of, actions in JOB.items() for it in actions}
    assert actions(ROOT / "modules/permissions/main.tf") == job | READER


@pytest.mark.parametrize("service", ["dynamodb", "events"])
def test_the_code_calls_exactly_what_is_allowed(service: str) -> None:
    reader = {it.split(":")[1] for it in READER if it.startswith(f"{service}:")}
    assert set(calls(service)) == JOB[service] | reader


def test_the_code_calls_only_what_is_allowed_on_a_stream() -> None:
    # The connector makes the other calls for a consumer.
    assert set(calls("kinesis")) == JOB["kinesis"] | {"DescribeStreamConsumer"}


def test_other_policies_allow_only_what_is_listed() -> None:
    found = {}
    for file in ROOT.glob("modules/*/*.tf"):
        name = str(file.relative_to(ROOT / "modules"))
        if name != "permissions/main.tf" and actions(file):
            found[name] = actions(file)
    assert found == OTHERS


@pytest.mark.parametrize("file", FILES, ids=lambda it: str(it.relative_to(ROOT)))
def test_no_policy_names_every_resource(file: Path) -> None:
    for line in file.read_text(encoding="utf-8").splitlines():
        if re.search(r'"\*"', line):
            assert re.fullmatch(r'\s*Principal\s*=\s*"\*"', line), line


@pytest.mark.parametrize("file", FILES, ids=lambda it: str(it.relative_to(ROOT)))
def test_no_file_contains_a_secret(file: Path) -> None:
    assert not SECRET.search(file.read_text(encoding="utf-8"))


def test_the_table_has_the_keys_and_the_ttl_of_the_job() -> None:
    table = MODULES["modules/table"].resources["aws_dynamodb_table.events"]
    assert (table["hash_key"], table["range_key"]) == ("pk", "sk")
    assert table["ttl"] == [{"attribute_name": "expiresAt", "enabled": True}]
    assert table["point_in_time_recovery"] == [{"enabled": True}]


def test_the_bucket_is_private() -> None:
    resources = MODULES["modules/bucket"].resources
    blocked = dict(resources["aws_s3_bucket_public_access_block.files"])
    del blocked["bucket"]
    assert len(blocked) == 4
    assert all(value is True for value in blocked.values())
