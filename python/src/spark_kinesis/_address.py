"""Where a local Kinesis listens, and how it is reached."""

from __future__ import annotations

from typing import Any, TypedDict

from ._boto import boto3
from ._credentials import StaticCredentials
from ._errors import LocalKinesisError
from ._wire import REGION, Wire

_SECRET = "local"  # noqa: S105 a local Kinesis takes any


class Access(TypedDict):
    """The keyword arguments by which a source or a sink reaches a local Kinesis."""

    region: str
    endpoint: str
    credentials: StaticCredentials


class LocalAddress:
    """The address of a local Kinesis, once there is one."""

    def __init__(self, endpoint: str | None) -> None:
        """Connect to nothing yet."""
        self._address = endpoint

    @property
    def endpoint(self) -> str:
        """Such as ``http://127.0.0.1:40123``.

        Raises:
            LocalKinesisError: when it is not running.
        """
        if self._address is None:
            raise LocalKinesisError("the local Kinesis is not running: call start() first")
        return self._address

    @property
    def access(self) -> Access:
        """Region, endpoint and credentials, as a source or a sink takes them."""
        return Access(
            region=REGION,
            endpoint=self.endpoint,
            credentials=StaticCredentials(access_key_id="local", secret_access_key=_SECRET),
        )

    @property
    def client(self) -> Any:
        """A new boto3 client of it.

        Raises:
            MissingPackage: when boto3 is not installed.
        """
        return boto3("the client of a local Kinesis").client(
            "kinesis",
            endpoint_url=self.endpoint,
            region_name=REGION,
            aws_access_key_id="local",
            aws_secret_access_key=_SECRET,
        )

    @property
    def _wire(self) -> Wire:
        return Wire(self.endpoint)
