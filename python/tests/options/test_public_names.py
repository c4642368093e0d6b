"""The names that the package exports, and the texts of its values."""

from __future__ import annotations

import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from pyspark.sql.types import StructType

import spark_kinesis
from spark_kinesis import (
    KinesisSink,
    KinesisSource,
    Profile,
    SparkKinesisError,
    StaticCredentials,
    columns,
    schema,
    tools,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

KEYS = StaticCredentials(access_key_id="AKID", secret_access_key="hush", session_token="token")


def test_every_exported_name_is_there() -> None:
    assert sorted(spark_kinesis.__all__) == spark_kinesis.__all__
    for name in spark_kinesis.__all__:
        assert getattr(spark_kinesis, name) is not None
    with pytest.raises(AttributeError, match="'spark_kinesis' has no attribute 'shcema'"):
        _ = spark_kinesis.shcema  # type: ignore[attr-defined]


def test_the_reference_names_what_users_can_import() -> None:
    page = Path(__file__).resolve().parents[3] / "docs/reference/python-api.md"
    paths = re.findall(r"^::: (\S+)$", page.read_text("utf-8"), re.MULTILINE)
    assert not [it for it in paths if "._" in it]
    for path in paths:
        module, _, name = path.rpartition(".")
        found = import_module(module)
        assert name in getattr(found, "__all__", [name]), path
        assert hasattr(found, name), path
    assert set(tools.__all__) <= {it.rpartition(".")[2] for it in paths}


@pytest.mark.parametrize("name", tools.__all__)
def test_what_the_results_of_the_tools_consist_of_is_exported(name: str) -> None:
    module = import_module(f"{tools.__name__}.{tools._FUNCTIONS[name]}")
    exported = module.__all__
    assert name in exported
    for found in (getattr(module, it) for it in exported):
        declared = " ".join(map(str, getattr(found, "__annotations__", {}).values()))
        words = set(re.findall(r"\w+", declared))
        types = {it for it in words if isinstance(getattr(module, it, None), type)}
        own = {it for it in types if getattr(module, it).__module__.startswith(module.__name__)}
        assert own <= set(exported), found


def test_the_errors_have_one_suffix_and_one_base() -> None:
    exported = [getattr(spark_kinesis, name) for name in spark_kinesis.__all__]
    errors = [e for e in exported if isinstance(e, type) and issubclass(e, Exception)]
    assert len(errors) > 5
    for error in errors:
        assert error.__name__.endswith("Error")
        assert issubclass(error, SparkKinesisError)


def test_the_schema_needs_no_session() -> None:
    assert isinstance(schema, StructType)
    assert schema.fieldNames() == [
        columns.PARTITION_KEY,
        columns.DATA,
        columns.STREAM,
        columns.SHARD_ID,
        columns.SEQUENCE_NUMBER,
        columns.SUB_SEQUENCE_NUMBER,
        columns.APPROXIMATE_ARRIVAL_TIMESTAMP,
    ]


def test_the_package_loads_without_pyspark_and_without_what_needs_extras() -> None:
    heavy = (
        "pyspark",
        "boto3",
        "rich",
        "importlib.resources",
        "shutil",
        "tempfile",
        *(f"spark_kinesis.{it}" for it in ("demo", "generate", "live")),
    )
    program = (
        "import sys; before = set(sys.modules); import spark_kinesis; "
        f"print([n for n in {heavy} if n in set(sys.modules) - before])"
    )
    ended = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert ended.stdout.strip() == "[]"


def test_a_repr_shows_what_was_set() -> None:
    assert repr(KinesisSource(stream_name="orders", starting_position="latest")) == (
        "KinesisSource(stream_name='orders', starting_position=Latest())"
    )
    sink = KinesisSink(stream_name="orders", region="eu-west-1", credentials=Profile(name="dev"))
    assert repr(sink) == (
        "KinesisSink(stream_name='orders', region='eu-west-1', credentials=Profile(name='dev'))"
    )
    assert repr(KinesisSink()) == "KinesisSink()"


@pytest.mark.parametrize("kind", [KinesisSource, KinesisSink])
def test_options_are_a_mapping_that_masks_secrets(kind: type[KinesisSource | KinesisSink]) -> None:
    options: Mapping[str, str] = kind(stream_name="orders", credentials=KEYS).options()
    assert options["awsSecretAccessKey"] == "hush"
    assert dict(options) == {
        "streamName": "orders",
        "awsAccessKeyId": "AKID",
        "awsSecretAccessKey": "hush",
        "awsSessionToken": "token",
    }
    for shown in (repr(options), str(options), f"{options}", f"{[options]}"):
        assert "'streamName': 'orders'" in shown
        assert shown.count("'***'") == 3
        assert not any(secret in shown for secret in ("AKID", "hush", "token'"))
