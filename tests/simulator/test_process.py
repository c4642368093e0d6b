"""The process: how it ends, and what it says to a command line that is wrong."""

from __future__ import annotations

import subprocess

from spark_kinesis.local import LocalKinesis


def command(*, port: int = 0) -> list[str]:
    return LocalKinesis(port=port)._command()


def test_the_end_of_its_input_is_its_end() -> None:
    with subprocess.Popen(
        command(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stdin
            assert process.stdout
            assert process.stdout.readline().startswith("listening on http://127.0.0.1:")
            process.stdin.close()
            assert process.wait(20) == 0
        finally:
            process.kill()


def test_a_taken_port_is_an_error_and_no_hang(endpoint: str) -> None:
    port = int(endpoint.rsplit(":", 1)[1])
    ended = subprocess.run(
        command(port=port), capture_output=True, text=True, timeout=30, check=False
    )
    assert ended.returncode != 0
    assert "in use" in ended.stderr


def test_bad_arguments_are_explained() -> None:
    ended = subprocess.run(
        [*command(), "--stream", "no-count"],
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    assert ended.returncode == 2
    assert "--stream no-count" in ended.stderr
