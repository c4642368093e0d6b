"""Records of the Glue Schema Registry, as AWS's own serializer writes them, and Avro of fastavro.

`tests/golden/payloads` has the records, and the programs that wrote them.
"""

from __future__ import annotations

import ast
import base64
import json
from typing import TYPE_CHECKING

import pyspark
import pytest
from pyspark.sql import functions

from spark_kinesis import payloads
from tests.docs.pages import Page
from tests.e2e.support.payloads import GOLDEN, outcomes
from tests.e2e.support.programs import run_app

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import Column, SparkSession

RECORDS = json.loads((GOLDEN / "glue.json").read_text("utf-8"))["records"]
PAGE = Page(name="docs/how-to/payloads.md")
# The module of the same minor version that Maven Central was seen to have.
SPARK_AVRO = {"4.0": "4.0.2", "4.1": "4.1.1"}


def test_json_of_the_serializer_with_and_without_compression(spark: SparkSession) -> None:
    payloads.register(spark)
    versions = {it["version"]: "" for it in RECORDS if it["format"] == "JSON"}
    decoded = payloads.glue(
        "data", versions, lambda it, _: payloads.json(it, "id LONG NOT NULL, customer STRING")
    )
    found = outcomes(spark, [base64.b64decode(it["data"]) for it in RECORDS], decoded)
    for record, ((value, reason),) in zip(RECORDS, found, strict=True):
        if record["format"] == "JSON":
            assert (value, reason) == ({"id": 17, "customer": "Zürich"}, None)
        else:
            assert (value, reason) == (None, f"UNKNOWN_SCHEMA_VERSION: {record['version']}")


def test_the_payload_of_protobuf_begins_with_the_index_of_its_type(spark: SparkSession) -> None:
    payloads.register(spark)
    messages = [it for it in RECORDS if it["format"] == "PROTOBUF"]
    (version,) = {it["version"] for it in messages}
    assert [it["compression"] for it in messages] == ["NONE", "ZLIB"]

    def as_it_is(payload: Column, _: str) -> Column:
        none = functions.lit(None).cast("string")
        return functions.array(functions.struct(payload.alias("value"), none.alias("reason")))

    decoded = payloads.glue("data", {version: ""}, as_it_is)
    found = outcomes(spark, [base64.b64decode(it["data"]) for it in messages], decoded)
    message = b"\x00\x08\x11\x12\x07" + "Zürich".encode()
    assert found == [[(message, None)], [(message, None)]]


@pytest.mark.slow
@pytest.mark.long  # it downloads Spark's module for Avro
@pytest.mark.spark4
def test_avro_of_the_serializer_and_of_fastavro(tmp_path: Path) -> None:
    """The program also runs the page's example of Avro."""
    minor = ".".join(pyspark.__version__.split(".")[:2])
    if minor not in SPARK_AVRO:
        pytest.skip(f"spark-avro for Spark {minor} was not available")
    (example,) = (it for it in PAGE.text.split("```") if "reader=latest" in it)
    script = tmp_path / "example.py"
    script.write_text(example.removeprefix("python\n"), encoding="utf-8")
    said = run_app("avro_session", SPARK_AVRO[minor], str(script), cwd=tmp_path, seconds=500)
    found = ast.literal_eval(said.stdout.splitlines()[-1])
    order = {"id": 17, "customer": "Zürich"}
    assert found["page"] == [
        *[({**order, "total": 0.0}, None), ({**order, "total": 2.5}, None)] * 2
    ]
    expected = json.loads((GOLDEN / "avro.json").read_text("utf-8"))["records"]
    assert expected
    assert found["fastavro"] == [(it["value"], None) for it in expected]
    assert found["sql"] == [(17, None), (None, "NOT_AVRO: bytes are left over")]
    assert len(found["headers"]) == sum(it["format"] == "AVRO" for it in RECORDS)
    cuts = sum(len(range(0, len(base64.b64decode(it["data"])), 7)) for it in expected)
    assert len(found["cut"]) == cuts
    for value, reason in found["headers"] + found["cut"]:
        assert value is None
        assert reason.startswith("NOT_AVRO: ")
    assert found["from_avro"][0] is not None, "Spark itself decodes a registry's header"
