"""Options and environment variables."""

from __future__ import annotations

import pytest

from log_processing.settings import Settings, read_settings

NEEDED = ["--streams=logs", "--table=t", "--bus=b", "--checkpoint=c", "--bad-events=d"]


def test_an_option_wins_over_the_environment() -> None:
    environment = {"LOG_TABLE": "of the environment", "LOG_RETENTION_DAYS": "7"}
    settings = read_settings(NEEDED, environment)
    assert (settings.table, settings.retention_days, settings.region) == ("t", 7, None)


def test_the_environment_alone_is_enough() -> None:
    names = ("STREAMS", "TABLE", "BUS", "CHECKPOINT", "BAD_EVENTS")
    environment = {f"LOG_{name}": name.lower() for name in names}
    settings = read_settings([], {**environment, "LOG_STREAMS": "a, b", "LOG_ONCE": "true"})
    assert settings.stream_names == ("a", "b")
    assert settings.once is True


@pytest.mark.parametrize("missing", NEEDED)
def test_a_missing_option_is_named(missing: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        read_settings([option for option in NEEDED if option != missing], {})
    assert end.value.code == 2
    assert missing.split("=", maxsplit=1)[0] in capsys.readouterr().err


@pytest.mark.parametrize(
    "wrong",
    [
        "--streams=a,,b",
        "--streams=a,a",
        "--streams=a#b",
        "--starting-position=yesterday",
        "--starting-position=2026-01-31T12:00:00",
        "--retention-days=0",
        "--retention-days=many",
        "--requests-in-flight=65",
        "--write-timeout=0",
        "--write-timeout=nan",
    ],
)
def test_a_wrong_value_is_named(wrong: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        read_settings([*NEEDED, wrong], {})
    assert end.value.code == 2
    assert wrong.split("=", maxsplit=1)[0] in capsys.readouterr().err


def test_a_wrong_word_in_the_environment_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        read_settings(NEEDED, {"LOG_ONCE": "perhaps"})
    assert "LOG_ONCE" in capsys.readouterr().err


def test_a_starting_position_may_be_a_time() -> None:
    settings = read_settings([*NEEDED, "--starting-position=2026-01-31T12:00:00Z"], {})
    assert settings.start_time is not None
    assert settings.start_time.isoformat() == "2026-01-31T12:00:00+00:00"


def test_settings_are_values() -> None:
    assert read_settings(NEEDED, {}) == Settings(
        table="t", streams="logs", bus="b", checkpoint="c", bad_events="d"
    )
