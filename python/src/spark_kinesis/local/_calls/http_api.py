"""HTTP requests to a local Kinesis."""

from __future__ import annotations

import json
from http import HTTPStatus
from http.client import HTTPConnection, HTTPException
from typing import Any, Literal
from urllib.parse import urlsplit

from spark_kinesis._errors import KinesisRefusedError, NoAnswerError

REGION = "us-east-1"
_TIMEOUT_SECONDS = 30.0
_HEADERS = {
    "Content-Type": "application/x-amz-json-1.1",
    # The server accepts every signature, and takes the region from its scope.
    "Authorization": f"AWS4-HMAC-SHA256 Credential=local/20000101/{REGION}/kinesis/aws4_request, "
    "SignedHeaders=host, Signature=0",
}


class HttpApi:
    """The API of one endpoint. Every call opens a connection, so that threads may share this.

    Args:
        endpoint: URL, such as ``http://127.0.0.1:4567``.
    """

    def __init__(self, endpoint: str) -> None:
        """Does not connect yet."""
        self._endpoint = endpoint
        self._host = urlsplit(endpoint).netloc

    def call(self, operation: str, **fields: object) -> dict[str, Any]:
        """Call an operation of the service, such as ``ListStreams``.

        Raises:
            KinesisRefusedError: with the service's name of the error as its code.
            NoAnswerError: if no answer comes within 30 s, or nothing listens.
        """
        target = {"X-Amz-Target": f"Kinesis_20131202.{operation}"}
        status, answer = self._send("POST", "/", fields, {**_HEADERS, **target})
        if status == HTTPStatus.OK:
            return answer
        subject = " ".join(str(fields[name]) for name in _SUBJECT if name in fields)
        code = str(answer.get("__type", f"HTTP {status}")).rpartition("#")[2]
        message = str(answer.get("message", answer.get("Message", "")))
        raise KinesisRefusedError(f"{operation} {subject}".strip(), code, message)

    def admin(
        self, method: Literal["GET", "POST", "DELETE"], path: str, body: object | None = None
    ) -> dict[str, Any]:
        """Call the server's own interface, such as ``GET /_simulator/stats``.

        Raises:
            KinesisRefusedError: with the HTTP status as its code.
            NoAnswerError: if no answer comes within 30 s, or nothing listens.
        """
        status, answer = self._send(method, path, body, {"Content-Type": "application/json"})
        if status == HTTPStatus.OK:
            return answer
        message = str(answer.get("error", answer.get("message", "")))
        raise KinesisRefusedError(f"{method} {path}", f"HTTP {status}", message)

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


# The fields that name the subject of a call, for messages.
_SUBJECT = ("StreamName", "ShardToSplit", "ShardToMerge", "AdjacentShardToMerge", "ShardId")


def _json(body: bytes) -> dict[str, Any]:
    """The JSON object of an answer; empty if the answer is another kind of JSON."""
    try:
        parsed = json.loads(body) if body else {}
    except ValueError as error:
        raise HTTPException(f"the answer is not JSON: {body[:100]!r}") from error
    return parsed if isinstance(parsed, dict) else {}
