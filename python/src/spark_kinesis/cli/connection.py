"""The options of every command that calls Kinesis."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import wraps
from typing import TYPE_CHECKING, Any, TypeVar

import click

from spark_kinesis import Profile, StaticCredentials
from spark_kinesis._boto import LOCAL_REGION, client, is_local
from spark_kinesis.tools.facts.checkpoints import Checkpoint
from spark_kinesis.tools.facts.files import CheckpointFiles, Store, open_files

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from mypy_boto3_kinesis import KinesisClient


class _StorageOption(click.ParamType):  # type: ignore[type-arg] # not generic before click 8.4
    name = "option"

    def convert(self, value: Any, param: Any, ctx: Any) -> tuple[str, str]:
        if isinstance(value, tuple):
            return value
        name, sign, text = str(value).partition("=")
        if not sign or not name:
            self.fail(f"{value!r} is not an option such as endpoint_url=URL", param, ctx)
        return name, text


_STORAGE_OPTION = _StorageOption()
Result = TypeVar("Result")
_ATTEMPTS = 5


@dataclass(frozen=True)
class Connection:
    """Which Kinesis to call, and as whom.

    Attributes:
        command: name of the command, for errors.
        endpoint: URL; default: that of AWS.
        region: AWS region; default: from the AWS SDK.
        profile: profile of the AWS configuration files.
        storage: options of the store of checkpoints, such as ``endpoint_url``.
    """

    command: str
    endpoint: str | None = None
    region: str | None = None
    profile: str | None = None
    storage: Mapping[str, str] = field(default_factory=dict)

    def kinesis(self, *, attempts: int = _ATTEMPTS) -> KinesisClient:
        """A client of Kinesis.

        Args:
            attempts: how often it makes a call that fails for a while; default: 5.
        """
        found: KinesisClient = self.service("kinesis", self.endpoint, attempts=attempts)
        return found

    def service(self, name: str, endpoint: str | None = None, *, attempts: int = _ATTEMPTS) -> Any:
        """A client of another service of the same account and region.

        Args:
            name: name in boto3, such as ``cloudwatch``.
            endpoint: URL; default: that of AWS.
            attempts: how often it makes a call that fails for a while; default: 5.
        """
        return client(
            f"spark-kinesis {self.command}",
            name,
            endpoint,
            self.region,
            self.profile,
            attempts=attempts,
        )

    def checkpoint(self, location: str) -> Checkpoint:
        """The checkpoint of a query, with the same profile if it is in S3.

        Args:
            location: path or URL.
        """
        return Checkpoint(self.files(location))

    def files(self, location: str) -> CheckpointFiles:
        """The files of a checkpoint, with the same profile if they are in S3.

        Args:
            location: path or URL.
        """
        store = Store(
            user=f"spark-kinesis {self.command}",
            region=self.region,
            profile=self.profile,
            options=self.storage,
        )
        return open_files(location, store)

    def source_arguments(self) -> dict[str, Any]:
        """The arguments of ``KinesisSource`` for the same service.

        As in ``_boto.client``, keys and region of a local endpoint are placeholders.
        """
        credentials: Profile | StaticCredentials | None = None
        region = self.region
        if self.profile:
            credentials = Profile(name=self.profile)
        elif is_local(self.endpoint):
            region = region or LOCAL_REGION
            made_up = "local"
            credentials = StaticCredentials(access_key_id=made_up, secret_access_key=made_up)
        return {"region": region, "endpoint": self.endpoint, "credentials": credentials}


def connection_options(command: Callable[..., Result]) -> Callable[..., Result]:
    """Add ``--endpoint``, ``--region`` and ``--profile``: the argument ``connection``."""

    @wraps(command)
    def with_connection(*given: Any, **options: Any) -> Result:
        place = {name: options.pop(name) for name in ("endpoint", "region", "profile")}
        place["storage"] = dict(options.pop("storage"))
        name = click.get_current_context().command.name or ""
        return command(*given, connection=Connection(name, **place), **options)

    for add in (
        click.option(
            "--storage-option",
            "storage",
            type=_STORAGE_OPTION,
            multiple=True,
            metavar="NAME=VALUE",
            help="option of the store of a checkpoint, such as endpoint_url=URL of an S3 server",
        ),
        click.option("--profile", help="AWS profile (default: the AWS SDK's provider chain)"),
        click.option("--region", help="AWS region (default: from the AWS SDK)"),
        click.option("--endpoint", metavar="URL", help="URL of the Kinesis service (default: AWS)"),
    ):
        with_connection = add(with_connection)
    return with_connection
