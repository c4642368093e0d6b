"""The tables of the README, against the code and the Terraform files."""

from __future__ import annotations

import dataclasses
import re

import pytest
from terraform_files import ROOT
from test_terraform import JOB, MODULES

from log_processing.events import reasons
from log_processing.settings import Settings

PAGE = (ROOT.parent / "README.md").read_text(encoding="utf-8")
SERVICES = {
    "Kinesis": "kinesis",
    "Kinesis, only with a consumer": "kinesis with a consumer",
    "DynamoDB": "dynamodb",
    "EventBridge": "events",
    "S3": "s3",
    "CloudWatch Logs, only on EMR Serverless": "logs",
    "KMS, only with your own key": "kms",
}


def rows(heading: str) -> list[list[str]]:
    """The cells of the first table below a heading, without the table's own head."""
    section = re.split(rf"^##+ {re.escape(heading)}$", PAGE, flags=re.MULTILINE)[1]
    table = re.search(r"(?:^\|.*\n)+", section, re.MULTILINE)
    assert table
    return [
        [cell.strip() for cell in line.strip("|").split(" | ")]
        for line in table[0].splitlines()[2:]
    ]


def code(text: str) -> list[str]:
    """What a cell has in backquotes."""
    return re.findall(r"`([^`]+)`", text)


def test_the_settings_and_their_defaults() -> None:
    documented = {name: row[1] for row in rows("Settings") for name in code(row[0])}
    fields = {"--" + it.name.replace("_", "-"): it for it in dataclasses.fields(Settings)}
    assert set(documented) == set(fields)
    for name, field in fields.items():
        if field.default and field.default is not dataclasses.MISSING:
            default = field.default
            text = f"{default:g}" if isinstance(default, float) else f"{default}"
            assert documented[name] == f"`{text}`", name


def test_the_permissions() -> None:
    documented = {SERVICES[row[0]]: set(code(row[1])) for row in rows("Permissions")}
    assert documented == JOB


def test_the_reasons_of_bad_events() -> None:
    documented = {name for row in rows("Events") for name in code(row[0])}
    assert documented == {it for name, it in vars(reasons).items() if name.isupper()}


def test_the_modules() -> None:
    documented = {name for row in rows("What Terraform creates") for name in code(row[0])}
    assert {f"modules/{it}" for it in documented} | {"."} == set(MODULES)


def test_the_alarms() -> None:
    documented = {name for row in rows("Alarms and what to do") for name in code(row[0])}
    alarms = (ROOT / "modules" / "alarms" / "main.tf").read_text(encoding="utf-8")
    defined = set(re.findall(r"^    ([\w-]+) = \{\n      text ", alarms, re.MULTILINE))
    assert documented == defined | {"job-failed"}


@pytest.mark.parametrize("name", re.findall(r"^\| `(\w+)` \| (?:`|none)", PAGE, re.MULTILINE))
def test_the_variables_exist(name: str) -> None:
    assert name in MODULES["."].variables
