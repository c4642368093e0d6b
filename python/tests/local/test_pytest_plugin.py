"""The fixture `local_kinesis` in a project that has the package installed."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import entry_points
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pytest

pytest_plugins = ["pytester"]

# Replaces the server. It records what the fixtures do, in order.
FAKE = """
import pytest
from spark_kinesis import local

class Fake:
    def __init__(self, **options):
        self.said, self.streams, self.is_running = [options], [], False
    def __enter__(self):
        self.start()
        return self
    def __exit__(self, *_):
        print("SERVER", *self.said, "stop", sep="|")
    def start(self):
        self.is_running = True
        self.said.append("start")
    def stop(self):
        self.is_running = False
    def create(self, name, shards):
        self.streams.append(name)
        self.said.append(f"create {name}:{shards}")
    def delete(self, name):
        self.streams = [other for other in self.streams if other != name]
        self.said.append(f"delete {name}")
    def clear_faults(self):
        self.said.append("clear")
    def reset_stats(self):
        self.said.append("reset")

@pytest.fixture(scope="session", autouse=True)
def fake():
    local.LocalKinesis = Fake
"""


def run(pytester: pytest.Pytester, *arguments: str) -> pytest.RunResult:
    return pytester.runpytest_subprocess("-s", *arguments)


def test_the_plugin_is_registered() -> None:
    (found,) = (e for e in entry_points(group="pytest11") if e.name == "spark_kinesis")
    assert found.value == "spark_kinesis.pytest_plugin"


def test_the_plugin_loads_no_heavy_module() -> None:
    program = (
        "import sys, spark_kinesis.pytest_plugin\n"
        "print([m for m in ('pyspark', 'boto3', 'rich', 'spark_kinesis.local')"
        " if m in sys.modules])"
    )
    said = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    assert said.stdout.strip() == b"[]"


def test_each_test_finds_a_clean_server(pytester: pytest.Pytester) -> None:
    pytester.makeconftest(
        FAKE
        + """
@pytest.fixture(scope="session")
def local_kinesis_options():
    return {"quotas": "aws", "streams": {"orders": 2}}
"""
    )
    pytester.makepyfile(
        """
        def test_one(local_kinesis):
            assert local_kinesis.streams == ["orders"]
            local_kinesis.create("more", 1)

        def test_two(local_kinesis):
            assert local_kinesis.streams == ["orders"]
            local_kinesis.stop()

        def test_three(local_kinesis):
            assert local_kinesis.is_running
        """
    )
    result = run(pytester)
    result.assert_outcomes(passed=3)
    (said,) = (line for line in result.outlines if "SERVER" in line)
    fresh = ["create orders:2", "reset"]
    assert said.split("|")[1:] == [
        "{'quotas': 'aws', 'streams': None}",
        "start",
        *("clear", *fresh, "create more:1", "clear", "delete orders", "delete more"),
        *("clear", *fresh),
        *("start", "clear", "delete orders", *fresh, "clear", "delete orders"),
        "stop",
    ]


def test_without_a_use_no_server_starts(pytester: pytest.Pytester) -> None:
    pytester.makeconftest(FAKE)
    pytester.makepyfile("def test_one(): pass")
    result = run(pytester, "-W", "error", "--strict-markers", "--strict-config")
    result.assert_outcomes(passed=1)
    assert "SERVER" not in result.stdout.str()


def test_a_fixture_of_the_same_name_takes_its_place(pytester: pytest.Pytester) -> None:
    pytester.makeconftest(
        FAKE
        + """
@pytest.fixture(scope="session")
def local_kinesis():
    return "theirs"
"""
    )
    pytester.makepyfile("def test_one(local_kinesis): assert local_kinesis == 'theirs'")
    result = run(pytester)
    result.assert_outcomes(passed=1)
    assert "SERVER" not in result.stdout.str()


def test_the_plugin_can_be_disabled(pytester: pytest.Pytester) -> None:
    pytester.makepyfile("def test_one(local_kinesis): pass")
    result = run(pytester, "-p", "no:spark_kinesis")
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*fixture 'local_kinesis' not found*"])


def test_the_bare_name_is_left_to_the_project(pytester: pytest.Pytester) -> None:
    pytester.makepyfile("def test_one(kinesis): pass")
    result = run(pytester)
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*fixture 'kinesis' not found*"])


def test_the_streams_of_the_options_may_be_none(pytester: pytest.Pytester) -> None:
    pytester.makeconftest(
        FAKE
        + """
@pytest.fixture(scope="session")
def local_kinesis_options():
    return {"streams": None}
"""
    )
    pytester.makepyfile("def test_one(local_kinesis): assert local_kinesis.streams == []")
    run(pytester).assert_outcomes(passed=1)
