"""The command `top`, without a Kinesis."""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING

from spark_kinesis.tools.cli import run
from spark_kinesis.tools.top import command

from .given import after
from .test_steps import Written

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


def test_a_service_that_does_not_answer_is_not_waited_for_long(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    Written(tmp_path).start(after(1))
    monkeypatch.setattr(command, "TIMEOUT_SECONDS", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        endpoint = f"http://127.0.0.1:{silent.getsockname()[1]}"
        words = ["top", "--once", "--checkpoint", str(tmp_path), "--endpoint", endpoint]
        assert run(words) == 2
    assert "Read timeout" in capsys.readouterr().err
