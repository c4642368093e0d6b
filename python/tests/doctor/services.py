"""Clients of AWS that answer what a test says. The SDK checks each request against its model."""

from __future__ import annotations

from http import HTTPStatus
from types import SimpleNamespace
from typing import Any

import boto3
from botocore import xform_name

KEYS = {"aws_access_key_id": "ID", "aws_secret_access_key": "hush"}


def service(kind: str, **answers: Any) -> Any:
    """A client that makes no connection.

    Args:
        kind: such as ``kinesis``.
        answers: by method: an answer, an error to raise, a function of the request, or a list of
            answers and errors for one call each.
    """
    client: Any = boto3.client(kind, region_name="eu-west-1", **KEYS)
    requests: dict[str, Any] = {}

    def asked(model: Any, params: Any, **_: object) -> None:
        requests[model.name] = params

    def answered(model: Any, **_: object) -> tuple[Any, Any]:
        answer = answers[xform_name(model.name)]
        if isinstance(answer, list):
            answer = answer.pop(0)
        if callable(answer):
            answer = answer(requests[model.name])
        if isinstance(answer, Exception):
            raise answer
        return SimpleNamespace(status_code=HTTPStatus.OK), answer

    client.meta.events.register("before-parameter-build", asked)
    client.meta.events.register("before-call", answered)
    return client
