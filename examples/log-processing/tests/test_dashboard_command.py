"""The command line of the dashboard."""

from __future__ import annotations

import pytest

from log_processing.dashboard.command_line import start


def test_the_server_listens_on_this_machine_alone() -> None:
    server = start(["--port", "0"], {"LOG_TABLE": "logs", "LOG_REGION": "eu-west-1"})
    try:
        assert server.host == "127.0.0.1"
        assert server.port > 0
    finally:
        server.server_close()


def test_a_wrong_port_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        start(["--port", "70000"], {"LOG_TABLE": "logs"})
    assert ended.value.code == 2
    assert "'70000' is not a port from 0 to 65535" in capsys.readouterr().err


def test_a_port_in_use_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    environment = {"LOG_TABLE": "logs", "LOG_REGION": "eu-west-1"}
    server = start(["--port", "0"], environment)
    try:
        with pytest.raises(SystemExit):
            start(["--port", str(server.port)], environment)
    finally:
        server.server_close()
    assert f"Port {server.port} " in capsys.readouterr().err
