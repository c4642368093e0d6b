"""HTTP requests that no AWS client sends."""

from __future__ import annotations

import http.client
import json

import pytest


def post(endpoint: str, target: str, body: bytes, kind: str = "json") -> tuple[int, str, str]:
    connection = http.client.HTTPConnection(endpoint.removeprefix("http://"), timeout=10)
    headers = {"X-Amz-Target": target, "Content-Type": f"application/x-amz-{kind}-1.1"}
    connection.request("POST", "/", body, headers)
    answer = connection.getresponse()
    text = answer.read()
    error = answer.getheader("x-amzn-ErrorType") or ""
    said = json.loads(text)["__type"] if text and kind == "json" else error
    assert answer.getheader("x-amzn-RequestId")
    assert answer.getheader("Date")
    connection.close()
    return answer.status, error, said


@pytest.mark.parametrize(
    ("target", "body", "code"),
    [
        ("Kinesis_20131202.ListStreams", b"{", "SerializationException"),
        ("Kinesis_20131202.ListStreams", b"", "SerializationException"),
        ("Kinesis_20131202.ListStreams", b"[]", "SerializationException"),
        ("Kinesis_20131202.ListStreams", b'{"Limit":"x"}', "SerializationException"),
        ("Kinesis_20131202.ListStreams", b'{"Limit":99999999999}', "SerializationException"),
        ("Kinesis_20131202.CreateStream", b'{"StreamName":"a/b"}', "ValidationException"),
        ("Kinesis_20131202.CreateStream", b'{"StreamName":"ab"}', "ValidationException"),
        ("Kinesis_20131202.Nothing", b"{}", "UnknownOperationException"),
        ("nonsense", b"{}", "UnknownOperationException"),
        (
            "Kinesis_20131202.PutRecord",
            b'{"StreamName":"given","PartitionKey":"k","Data":"%%%"}',
            "SerializationException",
        ),
    ],
)
def test_malformed_requests_are_refused(endpoint: str, target: str, body: bytes, code: str) -> None:
    assert post(endpoint, target, body) == (400, code, code)


def test_broken_cbor_is_refused(endpoint: str) -> None:
    status, error, _ = post(endpoint, "Kinesis_20131202.ListStreams", b"\xff\x00\x9f", "cbor")
    assert (status, error) == (400, "SerializationException")


def test_health(endpoint: str) -> None:
    connection = http.client.HTTPConnection(endpoint.removeprefix("http://"), timeout=10)
    connection.request("GET", "/_simulator/health")
    answer = connection.getresponse()
    assert (answer.status, json.loads(answer.read())) == (200, {"status": "ok"})
    connection.close()
