"""Calls of a local Kinesis with boto3: their errors, and which of them are repeated."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from spark_kinesis._boto import LOCAL_REGION, TRANSIENT, boto3
from spark_kinesis._errors import KinesisRefusedError, LocalKinesisError, NoAnswerError
from spark_kinesis._retry import pause

if TYPE_CHECKING:
    from mypy_boto3_kinesis import KinesisClient

KEY = "local"  # a local Kinesis accepts every key
TIMEOUT_SECONDS = 30.0
_FAULT_SECONDS = 30.0
_RATE_SECONDS = 3.0  # limits of calls are per second
_THROTTLED = ("LimitExceededException", "ProvisionedThroughputExceededException")
# The fields that name the subject of a call, for messages.
_SUBJECT = ("StreamName", "ShardToSplit", "ShardToMerge", "AdjacentShardToMerge", "ShardId")


# Variables of a botocore session without their environment variable: the configuration of this
# machine is for AWS, and may contain what botocore refuses. None is botocore's own default.
_VARIABLES = {
    "config_file": os.devnull,
    "credentials_file": os.devnull,
    "profile": None,
    "retry_mode": "legacy",
    "max_attempts": None,
    "defaults_mode": "legacy",
    "use_fips_endpoint": None,
    "use_dualstack_endpoint": None,
}
_NOT_OF_THIS_MACHINE = {name: (None, None, value, None) for name, value in _VARIABLES.items()}


class Calls:
    """Calls of one local Kinesis. boto3 itself repeats none of them.

    Every method raises ``KinesisRefusedError`` with the service's name of the error,
    ``NoAnswerError`` if no answer comes within 30 s, or ``LocalKinesisError`` if boto3 cannot call.

    Args:
        endpoint: URL of the local Kinesis.
    """

    def __init__(self, endpoint: str) -> None:
        """Does not connect yet.

        Raises:
            MissingPackageError: if boto3 is not installed.
        """
        self._endpoint = endpoint
        self._client: Any = connect(endpoint, once=True)

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def ask(self, operation: str, **fields: object) -> dict[str, Any]:
        """The answer to a call that only reads. It is repeated while it may succeed."""
        return self._repeated(operation, fields, _is_transient, _FAULT_SECONDS)

    def change(self, operation: str, **fields: object) -> dict[str, Any]:
        """The answer to a call that changes something. It is repeated only if it was throttled."""
        seconds = _FAULT_SECONDS if operation == "PutRecords" else _RATE_SECONDS
        return self._repeated(operation, fields, _is_throttled, seconds)

    def _repeated(
        self,
        operation: str,
        fields: dict[str, object],
        is_retryable: Callable[[LocalKinesisError], bool],
        seconds: float,
    ) -> dict[str, Any]:
        until, attempt = time.monotonic() + seconds, 0
        while True:
            try:
                return self._call(operation, fields)
            except LocalKinesisError as error:
                if not is_retryable(error) or time.monotonic() > until:
                    raise
            time.sleep(pause(attempt))
            attempt += 1

    def _call(self, operation: str, fields: dict[str, object]) -> dict[str, Any]:
        from botocore import xform_name  # noqa: PLC0415 comes with boto3
        from botocore.exceptions import (  # noqa: PLC0415
            BotoCoreError,
            ClientError,
            ConnectionClosedError,
            ConnectionError,  # noqa: A004
            IncompleteReadError,
            ReadTimeoutError,
            ResponseStreamingError,
        )

        cut = (ConnectionClosedError, IncompleteReadError, ResponseStreamingError)
        try:
            answer: dict[str, Any] = getattr(self._client, xform_name(operation))(**fields)
        except ClientError as error:
            found = error.response["Error"]
            code = f"HTTP {found['Code']}" if found["Code"].isdigit() else found["Code"]
            subject = " ".join(str(fields[name]) for name in _SUBJECT if name in fields)
            asked = f"{operation} {subject}".strip()
            raise KinesisRefusedError(asked, code, found["Message"]) from error
        except (ConnectionError, ReadTimeoutError, *cut, UnicodeDecodeError) as error:
            raise NoAnswerError(f"{operation}: no answer from {self._endpoint}: {error}") from error
        except BotoCoreError as error:
            raise LocalKinesisError(f"{operation}: {error}") from error
        # boto3 reads a body that is cut short as an answer without fields.
        sent = answer.pop("ResponseMetadata")["HTTPHeaders"].get("content-length", "0")
        if not answer and int(sent) > len("{}"):
            raise NoAnswerError(f"{operation}: the answer from {self._endpoint} is not JSON")
        return answer


class Clients:
    """The clients of one local Kinesis, made when they are needed. Threads share them.

    A forked process makes its own, and so does a copy that was pickled.
    """

    _client: KinesisClient | None
    _calls: Calls | None

    def __init__(self) -> None:
        """Has no clients."""
        self._begin()

    def client(self, endpoint: str) -> KinesisClient:
        """The client for the program."""
        with self._own_lock():
            if self._client is None:
                self._client = connect(endpoint)
            return self._client

    def calls(self, endpoint: str) -> Calls:
        """The calls of this package."""
        with self._own_lock():
            if self._calls is None:
                self._calls = Calls(endpoint)
            return self._calls

    def close(self) -> None:
        """Close the connections. Later clients are new."""
        with self._own_lock():
            for made in (self._client, self._calls):
                if made is not None:
                    made.close()
            self._client = self._calls = None

    def __reduce__(self) -> tuple[type[Clients], tuple[()]]:
        return Clients, ()

    def _own_lock(self) -> threading.Lock:
        if self._process != os.getpid():
            self._begin()  # the connections, and perhaps the lock, are in use by the parent
        return self._lock

    def _begin(self) -> None:
        self._process, self._lock = os.getpid(), threading.Lock()
        self._client = self._calls = None


def connect(endpoint: str, *, once: bool = False) -> KinesisClient:
    """A client of a local Kinesis.

    Args:
        endpoint: its URL.
        once: whether the client makes each call once, and passes on all values. If not, it has the
            defaults of boto3. The AWS configuration of this machine has no effect.

    Raises:
        MissingPackageError: if boto3 is not installed.
    """
    package = boto3("LocalKinesis")
    from botocore.config import Config  # noqa: PLC0415 comes with boto3
    from botocore.session import Session  # noqa: PLC0415

    config = Config(proxies={})  # the proxies of this machine are for other hosts
    if once:
        # The server refuses wrong values, as AWS does.
        config = config.merge(
            Config(
                retries={"total_max_attempts": 1},
                connect_timeout=TIMEOUT_SECONDS,
                read_timeout=TIMEOUT_SECONDS,
                parameter_validation=False,
            )
        )
    session = package.Session(
        aws_access_key_id=KEY,
        aws_secret_access_key=KEY,
        region_name=LOCAL_REGION,
        botocore_session=Session(session_vars=_NOT_OF_THIS_MACHINE),
    )
    client: KinesisClient = session.client("kinesis", endpoint_url=endpoint, config=config)
    return client


def _is_throttled(error: LocalKinesisError) -> bool:
    """Whether a call came too soon after others. Such a call changes nothing."""
    return isinstance(error, KinesisRefusedError) and error.code in _THROTTLED


def _is_transient(error: LocalKinesisError) -> bool:
    """Whether a call that only reads may succeed in a moment."""
    if isinstance(error, KinesisRefusedError):
        return error.code in TRANSIENT or error.code.startswith("HTTP 5")
    return isinstance(error, NoAnswerError)
