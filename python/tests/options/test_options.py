"""The Spark options of all fields."""

from __future__ import annotations

import dataclasses
import json
import re
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spark_kinesis import (
    AfterSequenceNumber,
    AssumeRole,
    AtSequenceNumber,
    AtTimestamp,
    ByShard,
    ByStream,
    KinesisJarMissingError,
    KinesisSink,
    KinesisSource,
    Latest,
    Profile,
    StaticCredentials,
    TrimHorizon,
)
from spark_kinesis._options.mapping import FrozenMapping

if TYPE_CHECKING:
    from collections.abc import Callable

WHO = {
    "stream_name": "orders",
    "region": "eu-west-1",
    "endpoint": "http://127.0.0.1:4567",
    "credentials": StaticCredentials(
        access_key_id="AKID", secret_access_key="hush", session_token="token"
    ),
    "role": AssumeRole(
        arn="arn:aws:iam::123456789012:role/r",
        session_name="us",
        external_id="theirs",
        sts_endpoint="http://127.0.0.1:1",
    ),
}
WHO_OPTIONS = {
    "streamName": "orders",
    "region": "eu-west-1",
    "endpoint": "http://127.0.0.1:4567",
    "awsAccessKeyId": "AKID",
    "awsSecretAccessKey": "hush",
    "awsSessionToken": "token",
    "roleArn": "arn:aws:iam::123456789012:role/r",
    "roleSessionName": "us",
    "roleExternalId": "theirs",
    "stsEndpoint": "http://127.0.0.1:1",
}
SOURCE = {
    "starting_position": AtTimestamp(datetime(2026, 1, 2, 3, 4, 5, 678000, timezone.utc)),
    "ending_position": AtTimestamp(datetime(2026, 1, 3, tzinfo=timezone.utc)),
    "max_records_per_trigger": 1000,
    "max_bytes_per_trigger": 2_000_000,
    "min_partitions": 6,
    "allow_stream_removal": True,
    "fail_on_data_loss": False,
    "deaggregate": False,
    "max_records_per_fetch": 500,
    "min_fetch_period": timedelta(milliseconds=250),
    "idle_fetch_period": timedelta(seconds=2),
    "fetch_buffer_size": 64 << 20,
    "shard_discovery_interval": timedelta(minutes=1),
}
SOURCE_OPTIONS = {
    "startingPosition": "2026-01-02T03:04:05.678000Z",
    "endingPosition": "2026-01-03T00:00:00Z",
    "maxRecordsPerTrigger": "1000",
    "maxBytesPerTrigger": "2000000",
    "minPartitions": "6",
    "allowStreamRemoval": "true",
    "failOnDataLoss": "false",
    "deaggregate": "false",
    "maxRecordsPerFetch": "500",
    "minFetchPeriod": "250ms",
    "idleFetchPeriod": "2000ms",
    "fetchBufferSize": "67108864",
    "shardDiscoveryInterval": "60000ms",
}
SINK = {
    "delivery_timeout": timedelta(minutes=1),
    "max_in_flight_requests": 4,
    "max_buffered_bytes": 1 << 20,
    "linger": timedelta(milliseconds=50),
    "aggregation": "kpl",
    "max_aggregate_bytes": 20 << 10,
    "max_aggregate_records": 500,
    "ordering": "per_key",
    "order_by": "seq",
    "dead_letter_path": Path("letters"),
    "dead_letter_format": "parquet",
}
SINK_OPTIONS = {
    "deliveryTimeout": "60000ms",
    "maxInFlightRequests": "4",
    "maxBufferedBytes": "1048576",
    "linger": "50ms",
    "aggregation": "kpl",
    "maxAggregateBytes": "20480",
    "maxAggregateRecords": "500",
    "ordering": "perKey",
    "orderBy": "seq",
    "deadLetterPath": "letters",
    "deadLetterFormat": "parquet",
}


def test_every_source_field_is_an_option() -> None:
    source = KinesisSource(**WHO, **SOURCE)  # type: ignore[arg-type]
    assert source.options() == WHO_OPTIONS | SOURCE_OPTIONS
    assert {f.name for f in dataclasses.fields(source)} == {*WHO, *SOURCE, "stream_arn"}


def test_every_sink_field_is_an_option() -> None:
    sink = KinesisSink(**WHO, **SINK)  # type: ignore[arg-type]
    assert sink.options() == WHO_OPTIONS | SINK_OPTIONS
    assert {f.name for f in dataclasses.fields(sink)} == {*WHO, *SINK, "stream_arn"}


@pytest.mark.parametrize("kind", [KinesisSource, KinesisSink])
def test_a_field_that_was_not_set_is_not_an_option(kind: type[KinesisSource | KinesisSink]) -> None:
    arn = "arn:aws:kinesis:eu-west-1:123456789012:stream/orders"
    assert kind(stream_arn=arn).options() == {"streamArn": arn}
    assert kind(stream_name="s", credentials=Profile(name="dev")).options() == {
        "streamName": "s",
        "profile": "dev",
    }


@pytest.mark.parametrize(
    ("position", "expected"), [(Latest(), "latest"), (TrimHorizon(), "trim_horizon")]
)
def test_positions(position: Latest | TrimHorizon, expected: str) -> None:
    source = KinesisSource(stream_name="s", starting_position=position)
    assert source.options()["startingPosition"] == expected


def test_positions_by_shard_of_the_one_stream() -> None:
    position = ByShard(
        {"shardId-1": AfterSequenceNumber("49"), "shardId-2": AtSequenceNumber("50")},
        others=TrimHorizon(),
    )
    source = KinesisSource(stream_name="orders", starting_position=position)
    assert json.loads(source.options()["startingPosition"]) == {
        "orders": {"shardId-1": {"after": "49"}, "shardId-2": {"at": "50"}, "*": "trim_horizon"}
    }


def test_positions_by_stream() -> None:
    shards = ByShard({"shardId-1": AtSequenceNumber("50")}, others=Latest())
    source = KinesisSource(
        stream_name=["orders", "refunds"],
        ending_position=ByStream({"orders": Latest(), "refunds": shards}),
    )
    assert source.options()["streamName"] == "orders,refunds"
    assert json.loads(source.options()["endingPosition"]) == {
        "orders": "latest",
        "refunds": {"shardId-1": {"at": "50"}, "*": "latest"},
    }


def test_positions_by_shard_of_several_streams_are_refused() -> None:
    with pytest.raises(ValueError, match=r"starting_position .* reads 2 streams: use ByStream"):
        KinesisSource(stream_name=["a", "b"], starting_position=ByShard({}, others=Latest()))


@pytest.mark.parametrize(
    "make",
    [
        lambda: ByShard({1: Latest()}, others=Latest()),  # type: ignore[dict-item]
        lambda: ByShard({}, others=AtSequenceNumber("1")),  # type: ignore[arg-type]
        lambda: ByStream({"s": AtSequenceNumber("1")}),  # type: ignore[dict-item]
        lambda: ByShard(["shardId-1"], others=Latest()),  # type: ignore[arg-type]
        lambda: AtSequenceNumber(49),  # type: ignore[arg-type]
        lambda: AfterSequenceNumber(49),  # type: ignore[arg-type]
    ],
)
def test_other_positions_are_refused(make: Callable[[], object]) -> None:
    with pytest.raises(TypeError, match="must be"):
        make()


def test_a_star_is_refused_as_a_shard() -> None:
    with pytest.raises(ValueError, match="set others instead"):
        ByShard({"*": TrimHorizon()}, others=Latest())


def test_positions_cannot_change() -> None:
    shards = {"shardId-1": Latest()}
    position = ByShard(shards, others=Latest())
    shards.clear()
    assert position.shards == {"shardId-1": Latest()}


def test_a_frozen_mapping_is_a_copy() -> None:
    entries = {"shardId-1": Latest()}
    mapping = FrozenMapping(entries)
    entries.clear()
    assert mapping == {"shardId-1": Latest()}


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ({"max_records_per_trigger": 3}, "max_records_per_trigger is for read_stream"),
        ({"max_bytes_per_trigger": 3}, "max_bytes_per_trigger is for read_stream"),
        ({"starting_position": Latest()}, "would be empty"),
    ],
)
def test_fields_of_a_stream_are_refused_in_a_batch_read(source: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        KinesisSource(stream_name="s", **source).read(None)  # type: ignore[arg-type]


def test_a_streaming_query_has_no_end() -> None:
    with pytest.raises(ValueError, match="ending_position is for read"):
        KinesisSource(stream_name="s", ending_position=Latest()).read_stream(None)  # type: ignore[arg-type]


def test_several_streams_cannot_change() -> None:
    names = ["a", "b"]
    source = KinesisSource(stream_name=names)
    names.append("c")
    assert source.stream_name == ("a", "b")
    assert KinesisSource(stream_arn=("x", "y")).options() == {"streamArn": "x,y"}


@pytest.mark.parametrize("field", ["stream_name", "stream_arn"])
@pytest.mark.parametrize(
    ("streams", "said"),
    [
        ([], "is an empty list"),
        (["a,b"], "'a,b', which contains a comma: make it several entries of the list"),
        (["a", ""], "is blank"),
        ("a,b", "'a,b', which contains a comma: pass a list"),
        ("", "is blank"),
        (" ", "is blank"),
    ],
)
def test_a_wrong_name_of_a_stream_is_refused(
    field: str, streams: list[str] | str, said: str
) -> None:
    with pytest.raises(ValueError, match=f"{field}.* {said}"):
        KinesisSource(**{field: streams})  # type: ignore[arg-type]


@pytest.mark.parametrize("field", ["stream_name", "stream_arn"])
@pytest.mark.parametrize(("stream", "said"), [("a,b", "a column 'stream'"), ("", "is blank")])
def test_a_wrong_name_of_a_sinks_stream_is_refused(field: str, stream: str, said: str) -> None:
    with pytest.raises(ValueError, match=f"{field}.*{said}"):
        KinesisSink(**{field: stream})  # type: ignore[arg-type]


def test_a_list_of_streams_is_refused_for_a_sink() -> None:
    with pytest.raises(TypeError, match="stream_name"):
        KinesisSink(stream_name=["a", "b"])  # type: ignore[arg-type]


@pytest.mark.parametrize("kind", [KinesisSource, KinesisSink])
def test_a_name_and_an_arn_exclude_each_other(kind: type[KinesisSource | KinesisSink]) -> None:
    with pytest.raises(ValueError, match="not both"):
        kind(stream_name="s", stream_arn="arn")


def test_a_source_needs_a_stream_and_a_sink_does_not() -> None:
    with pytest.raises(ValueError, match="exactly one of stream_name and stream_arn, not neither"):
        KinesisSource()
    assert KinesisSink().options() == {}


@pytest.mark.parametrize(
    ("field", "value", "expected"),
    [
        ("aggregation", "KPL", "'none' or 'kpl'"),
        ("ordering", "perKey", "'none' or 'per_key'"),
        ("dead_letter_format", "csv", "'json' or 'parquet'"),
    ],
)
def test_another_word_names_its_field(field: str, value: str, expected: str) -> None:
    with pytest.raises(ValueError, match=f"{field} must be {expected}, not '{value}'"):
        KinesisSink(**{"stream_name": "s", field: value})  # type: ignore[arg-type]


@pytest.mark.parametrize("field", ["aggregation", "ordering", "dead_letter_format"])
def test_words_are_those_of_the_connector(field: str) -> None:
    said = KinesisSink(**{"stream_name": "s", field: SINK[field]})  # type: ignore[arg-type]
    assert set(said.options().values()) == {"s", SINK_OPTIONS[_camel(field)]}
    plain = KinesisSink(stream_name="s", aggregation="none", ordering="none")
    assert plain.options() == {"streamName": "s", "aggregation": "none", "ordering": "none"}


def _camel(field: str) -> str:
    return re.sub(r"_(\w)", lambda letter: letter[1].upper(), field)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("linger", 100),
        ("aggregation", True),
        ("max_aggregate_bytes", "50k"),
        ("max_aggregate_records", 1.5),
        ("ordering", 1),
        ("order_by", ["seq"]),
        ("dead_letter_path", 1),
        ("dead_letter_format", True),
    ],
)
def test_a_sinks_wrong_type_names_its_field(field: str, value: Any) -> None:
    with pytest.raises(TypeError, match=field):
        KinesisSink(**{"stream_name": "s", field: value})


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("region", 1),
        ("stream_name", 1),
        ("starting_position", timedelta(hours=1)),
        ("ending_position", AtSequenceNumber("1")),
        ("max_records_per_trigger", "10"),
        ("max_records_per_trigger", True),
        ("fail_on_data_loss", "false"),
        ("deaggregate", 0),
        ("min_fetch_period", 200),
        ("credentials", "key:secret"),
        ("role", "arn:aws:iam::123456789012:role/r"),
    ],
)
def test_a_wrong_type_names_its_field(field: str, value: Any) -> None:
    with pytest.raises(TypeError, match=field):
        KinesisSource(**{"stream_name": "s", field: value})


def test_fields_cannot_change() -> None:
    source = KinesisSource(stream_name="s")
    with pytest.raises(dataclasses.FrozenInstanceError):
        source.stream_name = "t"  # type: ignore[misc]


@given(st.integers(0, 10**12))
def test_durations_are_whole_milliseconds(milliseconds: int) -> None:
    period = timedelta(milliseconds=milliseconds)
    source = KinesisSource(stream_name="s", min_fetch_period=period)
    assert source.options()["minFetchPeriod"] == f"{milliseconds}ms"


@given(st.integers(0, 10**9), st.integers(1, 999))
def test_a_finer_duration_is_refused(milliseconds: int, microseconds: int) -> None:
    period = timedelta(milliseconds=milliseconds, microseconds=microseconds)
    source = KinesisSource(stream_name="s", min_fetch_period=period)
    with pytest.raises(ValueError, match="min_fetch_period must be a whole number of milliseconds"):
        source.options()


@given(
    st.datetimes(datetime(1970, 1, 2), datetime(9000, 1, 1)),  # noqa: DTZ001 zone added below
    st.integers(-14 * 60, 14 * 60),
)
def test_an_instant_is_the_same_moment_in_utc(naive: datetime, offset: int) -> None:
    when = naive.replace(tzinfo=timezone(timedelta(minutes=offset)))
    written = AtTimestamp(when).option()
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{6})?Z", written)
    assert datetime.fromisoformat(written.replace("Z", "+00:00")) == when


def test_an_instant_without_a_zone_is_refused() -> None:
    with pytest.raises(ValueError, match="needs a time zone"):
        AtTimestamp(datetime(2026, 1, 1))  # noqa: DTZ001 the test is about this


class Frame:
    """A streaming DataFrame that records the calls to its writer, and starts nothing."""

    def __init__(self) -> None:
        self.calls: dict[str, Any] = {}
        self.writeStream = self.sparkSession = self.read = self  # pyspark's names

    def options(self, **options: str) -> Frame:
        self.calls |= options
        return self

    def option(self, name: str, value: str) -> Frame:
        self.calls[name] = value
        return self

    def __getattr__(self, name: str) -> Any:
        def call(*said: Any) -> Frame:
            self.calls[name] = said
            return self

        return call


def test_write_stream_returns_the_writer_of_spark_with_everything_set() -> None:
    frame: Any = Frame()
    sink = KinesisSink(stream_name="s", linger=timedelta(seconds=1))
    writer: Any = sink.write_stream(frame, checkpoint_location=Path("c"), query_name="copy")
    assert writer is frame
    assert "start" not in writer.calls
    assert writer.calls["format"] == ("kinesis",)
    assert writer.calls["queryName"] == ("copy",)
    assert {
        name: writer.calls[name] for name in ("streamName", "linger", "checkpointLocation")
    } == {
        "streamName": "s",
        "linger": "1000ms",
        "checkpointLocation": "c",
    }


def test_write_stream_needs_the_connector_before_the_start() -> None:
    class Bare(Frame):
        def load(self) -> None:
            raise RuntimeError("[DATA_SOURCE_NOT_FOUND] Failed to find the data source: kinesis. ")

    frame: Any = Bare()
    with pytest.raises(KinesisJarMissingError):
        KinesisSink(stream_name="s").write_stream(frame)


def test_write_stream_sets_checkpoint_and_name_only_if_given() -> None:
    frame: Any = Frame()
    KinesisSink(stream_name="s").write_stream(frame)
    assert not {"checkpointLocation", "queryName", "trigger", "outputMode"} & frame.calls.keys()


ROOT = Path(__file__).resolve().parents[3]
GOLDEN: dict[str, list[dict[str, str]]] = json.loads(
    (ROOT / "tests" / "golden" / "options.json").read_text()
)
FULL_ACCESS = {
    **WHO_OPTIONS,
    **KinesisSink(stream_arn="arn", credentials=Profile(name="dev")).options(),
}


def golden(*groups: str) -> set[str]:
    return {option["name"] for group in groups for option in GOLDEN[group]}


def test_the_options_are_those_of_the_connector() -> None:
    assert FULL_ACCESS.keys() == golden("connection")
    assert SOURCE_OPTIONS.keys() == golden("source")
    assert SINK_OPTIONS.keys() == golden("sink")
