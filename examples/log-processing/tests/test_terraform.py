"""The Terraform files: against the provider's schema, the code, and the README."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from made import event
from test_readme import PAGE, rows

from log_processing import alerts
from log_processing.progress import NAMESPACE
from log_processing.settings import read_settings
from log_processing.table import item_of
from spark_kinesis.tools.examination.permissions import ACTIONS, READ

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "terraform"
TEXT = "\n".join(file.read_text(encoding="utf-8") for file in sorted(FOLDER.glob("*.tf")))
CODE = "\n".join(file.read_text(encoding="utf-8") for file in ROOT.glob("log_processing/*.py"))
TERRAFORM = shutil.which("terraform")
PLUGINS = os.environ.get("TERRAFORM_PLUGIN_DIR", "")
READER = {"dynamodb": {"Query"}}


@pytest.mark.skipif(TERRAFORM is None, reason="terraform is not installed")
@pytest.mark.skipif(
    not PLUGINS,
    reason="set TERRAFORM_PLUGIN_DIR to a folder with the AWS provider, 5.100 or later",
)
def test_the_files_are_valid_and_plan_what_their_tests_say(tmp_path: Path) -> None:
    folder = tmp_path / "terraform"
    shutil.copytree(FOLDER, folder, ignore=shutil.ignore_patterns(".terraform*"))
    environment = {**os.environ, "TF_CLI_CONFIG_FILE": os.devnull, "CHECKPOINT_DISABLE": "1"}
    environment |= {"TF_IN_AUTOMATION": "1", "TF_DATA_DIR": str(tmp_path / "data")}
    for words in (
        ["init", "-backend=false", f"-plugin-dir={PLUGINS}"],
        ["fmt", "-check", "-recursive"],
        ["validate"],
        ["test"],
    ):
        ended = subprocess.run(
            [str(TERRAFORM), f"-chdir={folder}", *words],
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert ended.returncode == 0, ended.stdout + ended.stderr
    assert "4 passed, 0 failed" in ended.stdout


def test_the_files_name_what_the_job_sends() -> None:
    text = (FOLDER / "alerts.tf").read_text(encoding="utf-8")
    for name, value in (("source", alerts.SOURCE), ("detail-type", alerts.DETAIL_TYPE)):
        assert re.findall(rf'^    {name} += \["(.*)"\]$', text, re.MULTILINE) == [value]
    (expires,) = re.findall(r'ttl {\s+attribute_name = "(\w+)"', TEXT)
    assert expires in item_of(event(), 1).attributes
    namespaces = re.findall(r'metric += \["(\w+)", "(\w+)", "\w+"\]', TEXT)
    assert {space for space, _ in namespaces} == {NAMESPACE}
    for _, metric in namespaces:
        assert re.search(rf'\b{metric}(=|":)', CODE), metric


def test_the_job_accepts_the_options_that_terraform_passes() -> None:
    (block,) = re.findall(r"\n  arguments = \[(.*?)\n  \]\n", TEXT, re.DOTALL)
    options = re.findall(r'"(--[a-z-]+)"', block)
    assert {"--max-mb-per-batch", "--stop-timeout", "--trigger-seconds"} < set(options)
    read_settings([word for option in options for word in (option, "7")])


def script(output: str) -> str:
    """The commands of an output. What Terraform fills in from resources is ``x``."""
    locals_ = dict(re.findall(r'^  (\w+) += "(.*)"$', TEXT, re.MULTILINE))
    locals_ |= re.findall(r"^  (\w+) = <<-EOT\n(.*?)^  EOT$", TEXT, re.MULTILINE | re.DOTALL)
    (text,) = re.findall(rf'output "{output}" {{.*?<<-EOT\n(.*?)\n  EOT', TEXT, re.DOTALL)
    for _ in range(3):  # a local value may contain others
        text = re.sub(r"\$\{local\.(\w+)\}", lambda it: locals_.get(it[1], "x"), text)
    return re.sub(r"\$\{[^}]*\}", "x", text)


STOP = [
    ("list-job-runs", "run-1"),
    ("cancel-job-run", ""),
    ("list-job-runs", "run-1"),
    ("list-job-runs", "None"),
    ("get-application", "STARTED"),
    ("stop-application", ""),
    ("get-application", "STOPPED"),
]
START = [
    ("list-job-runs", ""),
    ("get-application", "CREATED"),
    ("update-application", ""),
    ("start-job-run", ""),
]


def run_script(output: str, answers: list[str], folder: Path, fails_at: int = 0) -> list[str]:
    """Run an output's commands with an `aws` that answers so. Returns its calls, and the code."""
    calls = folder / "calls"
    calls.write_text("")
    (folder / "answers").write_text("\n".join(answers))
    aws = f"""#!/bin/sh
        echo "$4" >> {calls}
        number=$(wc -l < {calls})
        [ $number -ne {fails_at} ] || exit 255
        sed -n ${{number}}p {folder}/answers
    """
    for name, text in (("aws", aws), ("sleep", "#!/bin/sh\n")):
        (folder / name).write_text(text)
        (folder / name).chmod(0o755)
    environment = {**os.environ, "PATH": f"{folder}{os.pathsep}{os.environ['PATH']}"}
    ended = subprocess.run(["bash", "-ec", script(output)], env=environment, check=False)
    return [*calls.read_text().split(), str(ended.returncode)]


@pytest.mark.parametrize(("output", "story"), [("stop_job", STOP), ("start_job", START)])
def test_a_script_waits_and_fails_as_soon_as_a_call_fails(
    output: str, story: list[tuple[str, str]], tmp_path: Path
) -> None:
    calls, answers = (list(it) for it in zip(*story, strict=True))
    assert run_script(output, answers, tmp_path) == [*calls, "0"]
    for number in range(1, len(calls) + 1):
        assert run_script(output, answers, tmp_path, number) == [*calls[:number], "255"]


def test_the_job_starts_only_once(tmp_path: Path) -> None:
    assert run_script("start_job", ["run-1"], tmp_path) == ["list-job-runs", "1"]


def actions(text: str) -> dict[str, set[str]]:
    """The actions in a text, per service."""
    found: dict[str, set[str]] = {}
    for service, action in re.findall(r"\b(kinesis|dynamodb|events|s3|logs):([A-Z]\w+)", text):
        found.setdefault(service, set()).add(action)
    return found


def test_the_job_may_do_what_the_code_and_the_readme_say() -> None:
    permissions = actions((FOLDER / "permissions.tf").read_text(encoding="utf-8"))
    documented = actions(" ".join(" ".join(row) for row in rows("Permissions")))
    assert permissions == {**documented, "dynamodb": documented["dynamodb"] | READER["dynamodb"]}
    connector = actions(" ".join(name for name, uses in ACTIONS.items() if READ in uses))
    assert connector["kinesis"] == permissions["kinesis"]


def test_the_readme_names_each_alarm() -> None:
    named = {name for row in rows("Alarms") for name in re.findall(r"`([a-z-]+)`", row[0])}
    text = (FOLDER / "alarms.tf").read_text(encoding="utf-8")
    defined = set(re.findall(r"^      ([a-z]+-[a-z]+) = \{", text, re.MULTILINE))
    for kind in re.findall(r'"([a-z]+)-\$\{query\}"', text):
        defined |= {f"{kind}-store", f"{kind}-alerts"}
    assert named == defined | {"job-failed"}


def test_the_readme_names_existing_variables_and_outputs() -> None:
    variables = set(re.findall(r'^variable "(\w+)"', TEXT, re.MULTILINE))
    outputs = set(re.findall(r'^output "(\w+)"', TEXT, re.MULTILINE))
    assert set(re.findall(r"output -raw (\w+)", PAGE)) <= outputs
    assert set(re.findall(r"-var (\w+)=", PAGE)) <= variables
    named = set(re.findall(r"`([a-z]+(?:_[a-z]+)+)`", PAGE))
    assert {"max_mb_per_second", "stop_job"} < named <= variables | outputs
