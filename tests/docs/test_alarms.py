"""The alarms and the dashboard for Prometheus in `examples/monitoring`, evaluated by promtool."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.docs.pages import ROOT, Page

EXAMPLES = ROOT / "examples" / "monitoring"
RULES = EXAMPLES / "prometheus-rules.yml"
CASES = EXAMPLES / "prometheus-rules.test.yml"


@pytest.fixture
def promtool() -> str:
    found = shutil.which("promtool")
    if found is None:
        pytest.skip("promtool is not installed. It is part of Prometheus, and of Debian's package.")
    return found


def run(*command: str) -> str:
    """Run a command that must succeed, and return its output."""
    ended = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return ended.stdout


def test_the_alarms_fire_when_they_should(promtool: str) -> None:
    alarms = re.findall(r"- alert: (\w+)", RULES.read_text())
    assert f"{len(alarms)} rules found" in run(promtool, "check", "rules", str(RULES))
    assert "SUCCESS" in run(promtool, "test", "rules", str(CASES))


def test_prometheus_understands_the_dashboard(promtool: str, tmp_path: Path) -> None:
    dashboard = json.loads((EXAMPLES / "grafana-dashboard.json").read_text())
    queries = [it["expr"] for panel in dashboard["panels"] for it in panel["targets"]]
    assert queries
    rules = [
        {"record": f"panel:{number}", "expr": query.replace("$query", ".*")}
        for number, query in enumerate(queries)
    ]
    file = tmp_path / "rules.yml"  # JSON is YAML
    file.write_text(json.dumps({"groups": [{"name": "dashboard", "rules": rules}]}))
    assert f"{len(queries)} rules found" in run(promtool, "check", "rules", str(file))


def test_every_alarm_has_a_case_in_which_it_fires_and_one_in_which_it_does_not() -> None:
    alarms = set(re.findall(r"- alert: (\w+)", RULES.read_text()))
    cases = CASES.read_text()
    assert alarms
    assert set(re.findall(r"alertname: (\w+)\n +eval_time: \w+\n +exp_alerts:", cases)) == alarms
    assert set(re.findall(r"\{alertname: (\w+), eval_time: \w+\}", cases)) == alarms


def test_the_runbooks_of_the_alarms_exist() -> None:
    links = re.findall(r"runbook: (\S+)#(\S+)", RULES.read_text())
    assert len(links) == RULES.read_text().count("- alert:")
    for page, anchor in links:
        assert anchor in Page(name=page).anchors(), anchor
