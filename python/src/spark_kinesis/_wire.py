"""Calls to a local Kinesis in plain HTTP and JSON, for which nothing needs to be installed."""

from __future__ import annotations

import json
from http.client import HTTPConnection, HTTPException
from typing import Any, Literal
from urllib.parse import urlsplit

from ._errors import KinesisRefusedError, NoAnswerError

REGION = "us-east-1"
_TIMEOUT_SECONDS = 30.0
_HEADERS = {
    "Content-Type": "application/x-amz-json-1.1",
    # Any signature will do; its scope tells the region.
    "Authorization": f"AWS4-HMAC-SHA256 Credential=local/20000101/{REGION}/kinesis/aws4_request, "
    "SignedHeaders=host, Signature=0",
}


class Wire:
    """One endpoint. Every call has a connection of its own, so that threads may share this.

    Args:
        endpoint: such as ``http://127.0.0.1:4567``.
    """

    def __init__(self, endpoint: str) -> None:
        """Connect to nothing yet."""
        self._endpoint = endpoint
        self._host = urlsplit(endpoint).netloc

    def call(self, operation: str, **fields: object) -> dict[str, Any]:
        """An operation of the service, such as ``ListStreams``; its answer.

        Raises:
            KinesisRefusedError: with the service's name of the error.
            NoAnswerError: within 30 s, or because nothing listens.
        """
        target = {"X-Amz-Target": f"Kinesis_20131202.{operation}"}
        status, answer = self._send("POST", "/", fields, {**_HEADERS, **target})
        if status == 200:  # noqa: PLR2004 everyone knows it
            return answer
        subject = " ".join(str(fields[name]) for name in _SUBJECT if name in fields)
        code = str(answer.get("__type", f"HTTP {status}")).rpartition("#")[2]
        message = str(answer.get("message", answer.get("Message", "")))
        raise KinesisRefusedError(f"{operation} {subject}".strip(), code, message)

    def admin(
        self, method: Literal["GET", "POST", "DELETE"], path: str, body: object | None = None
    ) -> dict[str, Any]:
        """A call to the simulator itself, such as ``GET /_simulator/stats``; its answer.

        Raises:
            KinesisRefusedError: with the HTTP status as its code.
            NoAnswerError: within 30 s, or because nothing listens.
        """
        status, answer = self._send(method, path, body, {"Content-Type": "application/json"})
        if status == 200:  # noqa: PLR2004 everyone knows it
            return answer
        said = str(answer.get("error", answer.get("message", "")))
        raise KinesisRefusedError(f"{method} {path}", f"HTTP {status}", said)

    def _send(
        self, method: str, path: str, body: object | None, headers: dict[str, str]
    ) -> tuple[int, dict[str, Any]]:
        sent = None if body is None else json.dumps(body).encode()
        connection = HTTPConnection(self._host, timeout=_TIMEOUT_SECONDS)
        try:
            connection.request(method, path, sent, headers)
            answer = connection.getresponse()
            return answer.status, _json(answer.read())
        except (OSError, HTTPException) as error:
            asked = headers.get("X-Amz-Target", f"{method} {path}")
            raise NoAnswerError(f"{asked}: no answer from {self._endpoint}: {error!r}") from error
        finally:
            connection.close()


# What names the thing a call is about, for messages.
_SUBJECT = ("StreamName", "ShardToSplit", "ShardToMerge", "AdjacentShardToMerge", "ShardId")


def _json(body: bytes) -> dict[str, Any]:
    """An answer's object; nothing for an answer that is none, such as a cut one."""
    try:
        parsed = json.loads(body) if body else {}
    except ValueError as error:
        raise HTTPException(f"an answer that is not JSON: {body[:100]!r}") from error
    return parsed if isinstance(parsed, dict) else {}
