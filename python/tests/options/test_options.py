"""The Spark options of all fields."""

from __future__ import annotations

import dataclasses
import re
from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spark_kinesis import (
    AssumeRole,
    AtTimestamp,
    CredentialsProvider,
    EnhancedFanOut,
    KinesisSink,
    KinesisSource,
    Profile,
    Proxy,
    StaticCredentials,
    Timeouts,
)

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
    "proxy": Proxy(url="http://proxy:3128", username="me", password="quiet"),
    "ca_bundle": "/etc/ca.pem",
    "allow_unencrypted_endpoint": False,
    "use_fips_endpoint": True,
    "use_dual_stack_endpoint": False,
    "timeouts": Timeouts(
        connect=timedelta(seconds=2), read=timedelta(seconds=20), call=timedelta(seconds=25)
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
    "proxy": "http://proxy:3128",
    "proxyUsername": "me",
    "proxyPassword": "quiet",
    "caBundle": "/etc/ca.pem",
    "allowUnencryptedEndpoint": "false",
    "useFipsEndpoint": "true",
    "useDualStackEndpoint": "false",
    "connectTimeout": "2000ms",
    "readTimeout": "20000ms",
    "callTimeout": "25000ms",
}
SOURCE = {
    "starting_position": AtTimestamp(datetime(2026, 1, 2, 3, 4, 5, 678000, timezone.utc)),
    "ending_position": AtTimestamp(datetime(2026, 1, 3, tzinfo=timezone.utc)),
    "max_records_per_trigger": 1000,
    "max_bytes_per_trigger": 2_000_000,
    "min_partitions": 6,
    "max_partitions": 12,
    "max_shard_skew": timedelta(minutes=10),
    "allow_stream_removal": True,
    "fail_on_data_loss": False,
    "deaggregate": False,
    "consumer": EnhancedFanOut(name="reports"),
    "max_records_per_fetch": 500,
    "min_fetch_period": timedelta(milliseconds=250),
    "idle_fetch_period": timedelta(seconds=2),
    "fetch_buffer_size": 64 << 20,
    "fetch_spill_size": 1 << 30,
    "shard_discovery_interval": timedelta(minutes=1),
    "retry_timeout": "unlimited",
}
SOURCE_OPTIONS = {
    "startingPosition": "2026-01-02T03:04:05.678000Z",
    "endingPosition": "2026-01-03T00:00:00Z",
    "maxRecordsPerTrigger": "1000",
    "maxBytesPerTrigger": "2000000",
    "minPartitions": "6",
    "maxPartitions": "12",
    "maxShardSkew": "600000ms",
    "allowStreamRemoval": "true",
    "failOnDataLoss": "false",
    "deaggregate": "false",
    "consumerMode": "efo",
    "consumerName": "reports",
    "maxRecordsPerFetch": "500",
    "minFetchPeriod": "250ms",
    "idleFetchPeriod": "2000ms",
    "fetchBufferSize": "67108864",
    "fetchSpillSize": "1073741824",
    "shardDiscoveryInterval": "60000ms",
    "retryTimeout": "unlimited",
}
SINK = {
    "delivery_timeout": timedelta(minutes=1),
    "request_timeout": timedelta(seconds=5),
    "max_in_flight_requests": 4,
    "max_request_records": 50,
    "max_request_bytes": 1 << 19,
    "max_buffered_bytes": 1 << 20,
    "linger": timedelta(milliseconds=50),
    "aggregation": "kpl",
    "max_aggregate_bytes": 20 << 10,
    "max_aggregate_records": 500,
    "delivery_guarantee": "exactly_once",
    "write_id": "nightly-2026-11-22",
    "ordering": "per_key",
    "order_by": "seq",
    "dead_letter_path": Path("letters"),
    "on_delivery_timeout": "dead_letter",
}
SINK_OPTIONS = {
    "deliveryTimeout": "60000ms",
    "requestTimeout": "5000ms",
    "maxInFlightRequests": "4",
    "maxRequestRecords": "50",
    "maxRequestBytes": "524288",
    "maxBufferedBytes": "1048576",
    "linger": "50ms",
    "aggregation": "kpl",
    "maxAggregateBytes": "20480",
    "maxAggregateRecords": "500",
    "deliveryGuarantee": "exactlyOnce",
    "writeId": "nightly-2026-11-22",
    "ordering": "perKey",
    "orderBy": "seq",
    "deadLetterPath": "letters",
    "onDeliveryTimeout": "deadLetter",
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
    vault = CredentialsProvider(class_name="com.example.Vault")
    assert kind(stream_name="s", credentials=vault).options() == {
        "streamName": "s",
        "credentialsProvider": "com.example.Vault",
    }


@pytest.mark.parametrize(
    "field",
    ["aggregation", "delivery_guarantee", "ordering", "on_delivery_timeout"],
)
def test_words_are_those_of_the_connector(field: str) -> None:
    said = KinesisSink(**{"stream_name": "s", field: SINK[field]})  # type: ignore[arg-type]
    assert set(said.options().values()) == {"s", SINK_OPTIONS[_camel(field)]}
    plain = KinesisSink(stream_name="s", aggregation="none", ordering="none")
    assert plain.options() == {"streamName": "s", "aggregation": "none", "ordering": "none"}


def _camel(field: str) -> str:
    return re.sub(r"_(\w)", lambda letter: letter[1].upper(), field)


def test_the_skew_of_shards_is_a_duration_or_a_word() -> None:
    assert KinesisSource(stream_name="s", max_shard_skew="none").options()["maxShardSkew"] == "none"
    with pytest.raises(TypeError, match="max_shard_skew must be timedelta or str or None, not 30"):
        KinesisSource(stream_name="s", max_shard_skew=30)  # type: ignore[arg-type]


def test_the_limit_of_retries_is_a_duration_or_a_word() -> None:
    brief = KinesisSource(stream_name="s", retry_timeout=timedelta(seconds=30))
    assert brief.options()["retryTimeout"] == "30000ms"
    with pytest.raises(TypeError, match="retry_timeout must be timedelta or str or None, not 30"):
        KinesisSource(stream_name="s", retry_timeout=30)  # type: ignore[arg-type]


@given(st.integers(0, 10**12))
def test_durations_are_whole_milliseconds(milliseconds: int) -> None:
    period = timedelta(milliseconds=milliseconds)
    source = KinesisSource(stream_name="s", min_fetch_period=period)
    assert source.options()["minFetchPeriod"] == f"{milliseconds}ms"
