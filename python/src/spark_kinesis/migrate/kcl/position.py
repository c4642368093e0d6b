"""The position of a source from the lease table of a KCL application."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from spark_kinesis._boto import client
from spark_kinesis._errors import MigrationError
from spark_kinesis._options.credentials import Profile, StaticCredentials
from spark_kinesis._options.position_maps import ByStream
from spark_kinesis._options.positions import AtTimestamp, Latest, TrimHorizon
from spark_kinesis.migrate.migration import StreamMigration, take_over
from spark_kinesis.migrate.stops import Stop, StopKind

from .table import kcl_streams, scan_leases

if TYPE_CHECKING:
    from spark_kinesis._options.access import StreamAccess
    from spark_kinesis._options.kcl import FromKclTable

_ATTEMPTS = 5
_ARN_REGION = 3


_REMOVE = (
    "If the query has a checkpoint, remove FromKclTable: the query continues at its checkpoint and "
    "ignores this position."
)


def read_position(
    given: FromKclTable, streams: Sequence[str], access: StreamAccess, *, allow_loss: bool
) -> ByStream:
    """Where the application stopped in each stream of a source.

    Args:
        given: the table.
        streams: names or ARNs of the streams.
        access: region, endpoint and credentials of the source.
        allow_loss: whether unread records may have expired.

    Raises:
        MigrationError: if the leases do not fit the streams, or if records are lost.
        MissingPackageError: if boto3 is not installed.
        botocore.exceptions.ClientError: if a call fails.
    """
    try:
        return _read(given, streams, access, allow_loss=allow_loss)
    except MigrationError as error:
        raise MigrationError(f"{error} {_REMOVE}") from error


def _read(
    given: FromKclTable, streams: Sequence[str], access: StreamAccess, *, allow_loss: bool
) -> ByStream:
    clients = _Clients(access, streams[0])
    kinesis = clients.of("kinesis", access.endpoint)
    dynamodb = clients.of("dynamodb", given.dynamodb_endpoint)
    leases = scan_leases(dynamodb, given.table, given.capacity_per_second)
    others = _stop(given.others)
    moved: dict[str, StreamMigration] = {}
    for name in streams:
        is_alone = len(streams) == 1 or any(it.key.stream is not None for it in leases)
        if not is_alone:
            raise MigrationError(
                f"the leases in table {given.table} are for one stream, and the source reads "
                f"{len(streams)}"
            )
        (found,) = kcl_streams(
            leases,
            given.table,
            kinesis,
            name,
            given.at,
            ignore_creation_time=given.ignore_creation_time,
        )
        moved[name] = take_over(kinesis, found.with_latest_at(given.at), others=others)
    losses = [text for it in moved.values() for text in it.losses]
    if losses and not allow_loss:
        raise MigrationError(
            f"{' '.join(losses)} To begin with the records that are left, set fail_on_data_loss to "
            "False."
        )
    return ByStream({name: it.position for name, it in moved.items()})


def _stop(position: object) -> Stop | None:
    if isinstance(position, AtTimestamp):
        return Stop(kind=StopKind.AT_TIME, time=position.when)
    if isinstance(position, Latest) or position == "latest":
        return Stop(kind=StopKind.LATEST)
    if isinstance(position, TrimHorizon) or position == "trim_horizon":
        return Stop(kind=StopKind.TRIM_HORIZON)
    return None


class _Clients:
    """Clients of AWS with the region and the credentials of a source."""

    def __init__(self, access: StreamAccess, stream: str) -> None:
        self._access = access
        is_arn = stream.startswith("arn:")
        self._region = access.region or (stream.split(":")[_ARN_REGION] if is_arn else None)
        self._role_keys: dict[str, str] = {}
        role = access.role
        if role is not None:
            asked = {"ExternalId": role.external_id} if role.external_id else {}
            answer = self.of("sts", role.sts_endpoint).assume_role(
                RoleArn=role.arn, RoleSessionName=role.session_name or "spark-kinesis", **asked
            )["Credentials"]
            self._role_keys = {
                "aws_access_key_id": answer["AccessKeyId"],
                "aws_secret_access_key": answer["SecretAccessKey"],
                "aws_session_token": answer["SessionToken"],
            }

    def of(self, service: str, endpoint: str | None) -> Any:
        given = self._access.credentials
        keys = self._role_keys
        if not keys and isinstance(given, StaticCredentials):
            keys = {
                "aws_access_key_id": given.access_key_id,
                "aws_secret_access_key": given.secret_access_key,
                **({"aws_session_token": given.session_token} if given.session_token else {}),
            }
        profile = given.name if isinstance(given, Profile) and not keys else None
        return client(
            "FromKclTable", service, endpoint, self._region, profile, attempts=_ATTEMPTS, keys=keys
        )
