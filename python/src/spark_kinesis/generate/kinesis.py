"""The requests of the generator, with boto3."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from spark_kinesis._boto import TRANSIENT
from spark_kinesis._errors import GeneratorError

from .writer import RequestFailedError, Send

_SERVER_ERROR = 500


def sender(client: Any, stream: str) -> Send:
    """A function that sends one request.

    It raises ``RequestFailedError`` if the request may succeed later, otherwise ``GeneratorError``.
    """
    from botocore.exceptions import BotoCoreError, ClientError, HTTPClientError  # noqa: PLC0415

    def send(request: list[dict[str, Any]]) -> Sequence[str | None]:
        try:
            answer = client.put_records(StreamName=stream, Records=request)
        except ClientError as error:
            if _is_transient(error.response):
                raise RequestFailedError(str(error)) from error
            raise GeneratorError(f"stream {stream}: {error}") from error
        except HTTPClientError as error:
            raise RequestFailedError(str(error)) from error
        except BotoCoreError as error:
            raise GeneratorError(f"stream {stream}: {error}") from error
        records = answer.get("Records", [])
        if len(records) != len(request):  # boto3 accepts an answer that was cut
            raise RequestFailedError(f"{len(records)} answers to {len(request)} records")
        return [record.get("ErrorCode") for record in records]

    return send


def _is_transient(response: Any) -> bool:
    status = int(response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0))
    return status >= _SERVER_ERROR or response["Error"]["Code"] in TRANSIENT
