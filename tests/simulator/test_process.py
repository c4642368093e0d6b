"""The messages of the process for a wrong command line."""

from __future__ import annotations

import subprocess

from spark_kinesis.local._kinesis import command


def ended(words: list[str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(words, capture_output=True, text=True, timeout=30, check=False)


def test_a_port_in_use_is_an_error(endpoint: str) -> None:
    said = ended(command({}, port=int(endpoint.rsplit(":", 1)[1])))
    assert said.returncode != 0
    assert "in use" in said.stderr


def test_bad_arguments_are_explained() -> None:
    said = ended([*command({}, port=0), "--stream", "no-count"])
    assert said.returncode == 2
    assert "--stream no-count" in said.stderr
