"""Without a region or credentials, each program says so in one line."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from botocore.exceptions import NoCredentialsError
from task import SETTINGS
from test_table import clock

from log_processing import startup_checks
from log_processing.dashboard import command_line as dashboard
from log_processing.delivery.clients import client
from log_processing.query import command_line as query
from log_processing.query.failures import explain
from log_processing.startup_checks import StartupError, wait_until_ready

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

NO_REGION = "No AWS region. Set --region or LOG_REGION."
NO_CREDENTIALS = "No AWS credentials. Set them as the AWS SDK expects"


@pytest.fixture(autouse=True)
def _no_region(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The AWS SDK finds no configuration, and no client of another test."""
    for name in ("AWS_DEFAULT_REGION", "AWS_REGION", "AWS_PROFILE", "AWS_DEFAULT_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "none"))
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "none"))
    client.cache_clear()


def test_the_job_names_the_missing_region() -> None:
    with pytest.raises(StartupError) as error:
        wait_until_ready(SETTINGS, clock())
    assert str(error.value) == NO_REGION


def test_the_job_names_missing_credentials_once(monkeypatch: pytest.MonkeyPatch) -> None:
    class NoCredentials:
        def __getattr__(self, _: str) -> Callable[..., Any]:
            return self._call

        def _call(self, **_: object) -> None:
            raise NoCredentialsError

    monkeypatch.setattr(startup_checks, "client", lambda *_, **__: NoCredentials())
    with pytest.raises(StartupError) as error:
        wait_until_ready(replace(SETTINGS, region="eu-west-1"), clock())
    assert str(error.value).startswith(NO_CREDENTIALS)
    assert "\n" not in str(error.value)


def test_the_dashboard_names_the_missing_region(capsys: pytest.CaptureFixture[str]) -> None:
    assert dashboard.main(["--table", "logs"], {}) == 1
    assert capsys.readouterr().err == f"dashboard: {NO_REGION}\n"


def test_a_query_names_the_missing_region(capsys: pytest.CaptureFixture[str]) -> None:
    assert query.main(["latest", "checkout", "--table", "logs"], {}) == 1
    assert capsys.readouterr().err == f"{NO_REGION}\n"


def test_a_query_names_missing_credentials() -> None:
    assert explain(NoCredentialsError(), table="logs").startswith(NO_CREDENTIALS)
