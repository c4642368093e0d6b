"""Where a local Kinesis listens, and how it is reached."""

from __future__ import annotations

from typing import Any, TypedDict

from ._boto import local_client
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
        self._client: Any = None

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
        """A boto3 client of it, the same each time; threads may share it.

        Raises:
            MissingPackageError: when boto3 is not installed.
        """
        endpoint = self.endpoint
        if self._client is None:
            self._client = local_client("the client of a local Kinesis", endpoint)
        return self._client

    def _move(self, endpoint: str | None) -> None:
        """From now on it listens there, or nowhere."""
        self._address = endpoint
        former, self._client = self._client, None
        if former is not None:
            former.close()

    @property
    def _wire(self) -> Wire:
        return Wire(self.endpoint)
