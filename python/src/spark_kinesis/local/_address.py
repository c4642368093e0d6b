"""The address of a local Kinesis, and clients for it."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypedDict

from spark_kinesis._boto import boto3
from spark_kinesis._errors import LocalKinesisError
from spark_kinesis._options.credentials import StaticCredentials

from ._calls.http_api import REGION, HttpApi

if TYPE_CHECKING:
    from mypy_boto3_kinesis import KinesisClient

_KEY = "local"  # a local Kinesis accepts every key


class Access(TypedDict):
    """The keyword arguments with which a source or a sink reaches a local Kinesis."""

    region: str
    endpoint: str
    credentials: StaticCredentials


class LocalAddress:
    """The address of a local Kinesis, if it runs."""

    def __init__(self, endpoint: str | None) -> None:
        """Does not connect yet."""
        self._address = endpoint
        self._client: KinesisClient | None = None

    @property
    def endpoint(self) -> str:
        """The URL, such as ``http://127.0.0.1:40123``.

        Raises:
            LocalKinesisError: if the local Kinesis is not running.
        """
        if self._address is None:
            raise LocalKinesisError("the local Kinesis is not running: call start() first")
        return self._address

    @property
    def access(self) -> Access:
        """Region, endpoint and credentials, as arguments of a source or a sink."""
        keys = StaticCredentials(access_key_id=_KEY, secret_access_key=_KEY)
        return Access(region=REGION, endpoint=self.endpoint, credentials=keys)

    @property
    def client(self) -> KinesisClient:
        """A boto3 client. It is the same at each call, and threads may share it.

        Type checkers know its methods if ``boto3-stubs[kinesis]`` is installed.

        Raises:
            LocalKinesisError: if the local Kinesis is not running.
            MissingPackageError: if boto3 is not installed.
        """
        if self._client is None:
            self._client = _connect(self.endpoint)
        return self._client

    def _move(self, endpoint: str | None) -> None:
        """Change the address, and close the client of the former one."""
        self._address = endpoint
        former, self._client = self._client, None
        if former is not None:
            former.close()

    @property
    def _api(self) -> HttpApi:
        return HttpApi(self.endpoint)


def _connect(endpoint: str) -> KinesisClient:
    package = boto3("the client of a local Kinesis")
    from botocore.config import Config  # noqa: PLC0415 comes with boto3

    client: KinesisClient = package.client(
        "kinesis",
        endpoint_url=endpoint,
        region_name=REGION,
        aws_access_key_id=_KEY,
        aws_secret_access_key=_KEY,
        config=Config(proxies={}),  # the proxies of this machine are for other hosts
    )
    return client
