"""`register` with sessions that allow a change of the settings, and that do not."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

import pytest

from spark_kinesis import payloads

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SETTING = "spark.sql.catalog.kinesis_payloads"
FUNCTIONS = "sparkkinesis.spark.KinesisFunctions"


class Settings(dict[str, str]):
    """The settings of a session."""

    def set(self, name: str, value: str) -> None:
        """Set one."""
        self[name] = value


class PipelineSettings(Settings):
    """The settings as the file of a pipeline sees them."""

    def set(self, name: str, value: str) -> None:
        """Refuse to set one, as Spark does."""
        raise AssertionError(f"a pipeline must not set {name} to {value}")


def session(settings: Settings) -> SparkSession:
    """A session that has only settings."""
    return cast("SparkSession", SimpleNamespace(conf=settings))


def test_it_sets_the_catalog() -> None:
    settings = Settings()
    payloads.register(session(settings))
    assert settings == {SETTING: FUNCTIONS}


def test_it_changes_nothing_if_the_pipeline_has_the_setting() -> None:
    payloads.register(session(PipelineSettings({SETTING: FUNCTIONS})))


def test_another_catalog_of_the_name_is_refused() -> None:
    settings = Settings({SETTING: "com.example.Catalog"})
    with pytest.raises(ValueError, match=rf"{SETTING} is com\.example\.Catalog"):
        payloads.register(session(settings))
    assert settings[SETTING] == "com.example.Catalog"
