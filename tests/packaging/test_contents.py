"""The contents of the jars and of the wheel."""

from __future__ import annotations

import re
import zipfile
from functools import cache
from pathlib import Path

import pytest

import spark_kinesis
from spark_kinesis import jar_path
from spark_kinesis._session.jars import simulator_jar_path

ROOT = Path(__file__).resolve().parents[2]
MEGABYTE = 1 << 20


@cache
def names(jar: str) -> list[str]:
    with zipfile.ZipFile(jar) as opened:
        return [name for name in opened.namelist() if not name.endswith("/")]


def read(jar: str, name: str) -> str:
    with zipfile.ZipFile(jar) as opened:
        return opened.read(name).decode()


def test_every_class_of_the_connector_jar_is_ours() -> None:
    """Classes are our own, relocated, or in the two packages that Spark and OpenLineage need."""
    classes = [name for name in names(jar_path()) if name.endswith(".class")]
    assert len(classes) > 1000
    allowed = re.compile(
        r"sparkkinesis/|org/apache/spark/sparkkinesis/|io/openlineage/spark/extension/"
    )
    assert [name for name in classes if not allowed.match(name)] == []


def test_the_jar_has_the_classes_for_real_time_mode() -> None:
    """They are a project of their own, because Spark 4.0 lacks the interfaces."""
    folder = "sparkkinesis/spark/read/realtime"
    for name in ("KinesisRealTimeStream", "RealTimePartitionReader"):
        assert f"{folder}/{name}.class" in names(jar_path())


@pytest.mark.parametrize("library", ["scala/", "org/apache/spark/sql/Dataset", "org/slf4j/"])
def test_libraries_of_spark_are_not_in_the_jar(library: str) -> None:
    every = names(jar_path())
    assert [
        name for name in every if name.startswith((library, f"sparkkinesis/shaded/{library}"))
    ] == []


def test_the_source_registers_itself() -> None:
    service = "META-INF/services/org.apache.spark.sql.sources.DataSourceRegister"
    assert service in names(jar_path())
    for provider in read(jar_path(), service).split():
        assert f"{provider.replace('.', '/')}.class" in names(jar_path())


def test_every_registered_service_is_there() -> None:
    services = [name for name in names(jar_path()) if name.startswith("META-INF/services/")]
    # The SDK finds its HTTP client by a relocated service file.
    assert any("shaded.software.amazon.awssdk.http.SdkHttpService" in name for name in services)
    for service in services:
        lines = (line.partition("#")[0].strip() for line in read(jar_path(), service).splitlines())
        for provider in filter(None, lines):
            assert f"{provider.replace('.', '/')}.class" in names(jar_path()), service


def test_no_signature_files() -> None:
    signed = re.compile(r"META-INF/[^/]*\.(SF|RSA|DSA)")
    assert [name for name in names(jar_path()) if signed.fullmatch(name)] == []


def test_the_simulator_jar_is_small_and_has_its_own_classes() -> None:
    classes = [name for name in names(simulator_jar_path()) if name.endswith(".class")]
    assert "sparkkinesis/simulator/Main.class" in classes
    assert [name for name in classes if not name.startswith("sparkkinesis/simulator/")] == []
    assert Path(simulator_jar_path()).stat().st_size < 2 * MEGABYTE


def test_the_wheel_has_the_jars_and_the_type_marker() -> None:
    version = spark_kinesis.__version__
    wheel = ROOT / "python" / "dist" / f"spark_kinesis-{version}-py3-none-any.whl"
    inside = names(str(wheel))
    assert f"spark_kinesis/jars/{Path(jar_path()).name}" in inside
    assert f"spark_kinesis/jars/{Path(simulator_jar_path()).name}" in inside
    assert "spark_kinesis/py.typed" in inside
    assert wheel.stat().st_size < 16_000_000


def test_the_jar_is_small_and_has_no_times_of_a_build() -> None:
    """Its size is that of `Trimming`. The job `reproducible` of CI compares two builds."""
    assert Path(jar_path()).stat().st_size < 17_000_000
    with zipfile.ZipFile(jar_path()) as opened:
        assert len({entry.date_time for entry in opened.infolist()}) == 1


def test_classes_that_no_code_can_load_are_left_out() -> None:
    present = {name for name in names(jar_path()) if name.endswith(".class")}
    # Netty's codecs for compression and web sockets, and Apache's asynchronous client.
    for gone in ("io/netty/handler/codec/compression/", "org/apache/hc/core5/http/nio/command/"):
        assert not [name for name in present if f"shaded/{gone}" in name]
    for kept in (
        "io/netty/handler/codec/http2/Http2FrameCodec",
        "software/amazon/awssdk/services/sso/auth/SsoProfileCredentialsProviderFactory",
        "software/amazon/awssdk/services/sts/internal/StsProfileCredentialsProviderFactory",
    ):
        assert f"sparkkinesis/shaded/{kept}.class" in present
