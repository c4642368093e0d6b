"""The options of every command that calls AWS."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import wraps
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import unquote, urlsplit

import click

from spark_kinesis import AssumeRole, Profile, Proxy, StaticCredentials
from spark_kinesis._boto import (
    LOCAL_REGION,
    CallSettings,
    client,
    is_local,
    needs_placeholders,
    session,
)
from spark_kinesis.tools.facts.checkpoints import Checkpoint
from spark_kinesis.tools.facts.files import CheckpointFiles, Store, open_files

from .values import Value

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from mypy_boto3_kinesis import KinesisClient

Result = TypeVar("Result")
_ATTEMPTS = 5


@dataclass(frozen=True)
class Connection:
    """Which Kinesis to call, and as whom.

    Attributes:
        command: name of the command, for errors.
        endpoint: URL; default: that of AWS.
        region: AWS region; default: from the AWS SDK.
        storage: options of the store of checkpoints, such as ``endpoint_url``.
        timeout: how long a call waits for a connection, and for an answer, in seconds; default: as
            long as botocore.
    """

    command: str
    endpoint: str | None = None
    region: str | None = None
    profile: str | None = None
    settings: CallSettings = field(default_factory=CallSettings)
    storage: Mapping[str, str] = field(default_factory=dict, repr=False)
    timeout: float | None = None

    @property
    def user(self) -> str:
        """The command, for errors."""
        return f"spark-kinesis {self.command}"

    def session(self) -> Any:
        """A session of boto3. Everything that the command calls uses its credentials."""
        return session(self.user, self.endpoint, self.region, self.profile, settings=self.settings)

    def kinesis(self, *, attempts: int = _ATTEMPTS) -> KinesisClient:
        """A client of Kinesis, which makes a failing call up to ``attempts`` times."""
        found: KinesisClient = self.service("kinesis", self.endpoint, attempts=attempts)
        return found

    def service(self, name: str, endpoint: str | None = None, *, attempts: int = _ATTEMPTS) -> Any:
        """A client of a service by its name in boto3; default of ``endpoint``: that of AWS."""
        return client(
            self.user,
            name,
            endpoint,
            self.region,
            self.profile,
            attempts=attempts,
            timeout=self.timeout,
            settings=self.settings,
        )

    def checkpoint(self, location: str) -> Checkpoint:
        """The checkpoint of a query at a path or URL, in S3 with the same profile and role."""
        return Checkpoint(self.files(location))

    def files(self, location: str) -> CheckpointFiles:
        """The files of a checkpoint at a path or URL, in S3 with the same profile and role."""
        store = Store(
            user=self.user,
            region=self.region,
            profile=self.profile,
            settings=self.settings,
            options=self.storage,
        )
        return open_files(location, store)

    def source_arguments(self) -> dict[str, Any]:
        """The arguments of ``KinesisSource`` for the same service.

        As in ``_boto.session``, keys and region of a local endpoint are placeholders.
        """
        settings = self.settings
        credentials: Profile | StaticCredentials | None = None
        if self.profile:
            credentials = Profile(name=self.profile)
        elif needs_placeholders(self.endpoint, self.profile, settings):
            made_up = "local"
            credentials = StaticCredentials(access_key_id=made_up, secret_access_key=made_up)
        is_plain = is_local(self.endpoint) and self.profile is None
        arn = settings.role_arn
        return {
            "region": self.region or (LOCAL_REGION if is_plain else None),
            "endpoint": self.endpoint,
            "credentials": credentials,
            "role": None if arn is None else AssumeRole(arn=arn, external_id=settings.external_id),
            "proxy": None if settings.proxy is None else _proxy(settings.proxy),
            "ca_bundle": settings.ca_bundle,
        }


def _proxy(url: str) -> Proxy:
    """The proxy of the source, which takes name and password apart from the URL."""
    parts = urlsplit(url)
    if parts.username is None:
        return Proxy(url=url)
    bare = parts._replace(netloc=parts.netloc.rpartition("@")[2])
    return Proxy(
        url=bare.geturl(), username=unquote(parts.username), password=unquote(parts.password or "")
    )


def connection_options(command: Callable[..., Result]) -> Callable[..., Result]:
    """Add the options of a connection. Together, they are the argument ``connection``.

    A command that opens checkpoints also has ``storage_option``, above this one.
    """

    @wraps(command)
    def with_connection(*given: Any, **options: Any) -> Result:
        place = {name: options.pop(name) for name in ("endpoint", "region", "profile")}
        storage = dict(options.pop("storage", ()))
        names = ("role_arn", "external_id", "proxy", "ca_bundle")
        settings = CallSettings(**{name: options.pop(name) for name in names})
        name = click.get_current_context().command.name or ""
        connection = Connection(name, **place, settings=settings, storage=storage)
        return command(*given, connection=connection, **options)

    for add in reversed(_OPTIONS):
        with_connection = add(with_connection)
    return with_connection


_OPTIONS = (
    click.option("--endpoint", metavar="URL", help="URL of the Kinesis service (default: AWS)"),
    click.option("--region", help="AWS region (default: from the AWS SDK)"),
    click.option("--profile", help="AWS profile (default: the AWS SDK's provider chain)"),
    click.option("--role-arn", metavar="ARN", help="role to assume (default: none)"),
    click.option("--external-id", metavar="ID", help="ID that the owner of the role requires"),
    click.option("--proxy", metavar="URL", help="HTTP proxy (default: from the environment)"),
    click.option(
        "--ca-bundle",
        type=click.Path(exists=True, dir_okay=False),
        help="certificates to trust, as PEM (default: those of the AWS SDK)",
    ),
)


def _assignment(text: str) -> tuple[str, str]:
    name, sign, value = text.partition("=")
    if not sign or not name:
        raise ValueError(f"{text!r} is not an option such as endpoint_url=URL")
    return name, value


storage_option = click.option(
    "--storage-option",
    "storage",
    type=Value("option", _assignment),
    multiple=True,
    metavar="NAME=VALUE",
    help="option of the store of a checkpoint, such as endpoint_url=URL of an S3 server",
)
