"""A Kinesis on this machine, for demos and for your own tests: no Docker, no AWS account.

From Python::

    with LocalKinesis(streams={"orders": 2}) as kinesis:
        source = KinesisSource(stream_name="orders", **kinesis.access)

From a shell, until Ctrl-C::

    python -m spark_kinesis.local --stream orders:2 --port 4567
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import TypedDict, final

from ._credentials import StaticCredentials
from ._errors import LocalKinesisError
from ._simulator import READY, command, ready_endpoint

_STOP_SECONDS = 10.0


class Access(TypedDict):
    """The keyword arguments by which a source or a sink reaches a local Kinesis."""

    region: str
    endpoint: str
    credentials: StaticCredentials


@final
class LocalKinesis:
    """A local Kinesis in a process of its own, on the loopback interface only.

    It keeps everything in memory and ends with this Python process at the latest.

    Args:
        streams: name to number of shards, made at the start.
        port: 0 takes any free one.
    """

    def __init__(self, *, streams: Mapping[str, int] | None = None, port: int = 0) -> None:
        """Remember what to start; nothing runs yet."""
        self._streams = dict(streams or {})
        self._port = port
        self._process: subprocess.Popen[str] | None = None
        self._endpoint: str | None = None

    @property
    def endpoint(self) -> str:
        """Such as ``http://127.0.0.1:40123``.

        Raises:
            LocalKinesisError: when it is not running.
        """
        if self._endpoint is None:
            raise LocalKinesisError("the local Kinesis is not running: call start() first")
        return self._endpoint

    @property
    def access(self) -> Access:
        """Region, endpoint and credentials, as a source or a sink takes them."""
        return Access(
            region="us-east-1",
            endpoint=self.endpoint,
            credentials=StaticCredentials(access_key_id="local", secret_access_key="local"),
        )

    def start(self) -> LocalKinesis:
        """Start it, and return when it answers.

        Raises:
            LocalKinesisError: when Java is missing or the process does not come up within 60 s.
            JarNotFound: when this installation has no jar.
        """
        if self._process is not None:
            raise LocalKinesisError("the local Kinesis is already running")
        with tempfile.TemporaryFile("w+") as log:
            self._process = subprocess.Popen(
                command(self._streams, self._port),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                start_new_session=True,  # Ctrl-C is for this process, which then stops that one
            )
            self._endpoint = ready_endpoint(self._process)
            if self._endpoint is None:
                self.stop()
                log.seek(0)
                raise LocalKinesisError(f"the local Kinesis did not start:\n{log.read()[-2000:]}")
        return self

    def stop(self) -> None:
        """Stop it and forget its data. Stopping twice is fine."""
        process, self._process, self._endpoint = self._process, None, None
        if process is None:
            return
        if process.stdin is not None:
            process.stdin.close()  # --stop-with-stdin: the end of its input is its end
        try:
            process.wait(_STOP_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    def wait(self) -> int:
        """Block until the process ends by itself; its exit code, 0 if it is not running."""
        return 0 if self._process is None else self._process.wait()

    def __enter__(self) -> LocalKinesis:
        """Start it."""
        return self.start()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Stop it."""
        self.stop()


def _stream(argument: str) -> tuple[str, int]:
    name, _, shards = argument.partition(":")
    return name, int(shards or "1")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a local Kinesis until Ctrl-C."""
    parser = argparse.ArgumentParser(prog="python -m spark_kinesis.local", description=__doc__)
    parser.add_argument("--port", type=int, default=0, help="0 takes any free one (default)")
    parser.add_argument(
        "--stream",
        action="append",
        type=_stream,
        default=[],
        metavar="NAME:SHARDS",
        help="a stream to make; may be repeated",
    )
    asked = parser.parse_args(arguments)
    with LocalKinesis(streams=dict(asked.stream), port=asked.port) as kinesis:
        print(f"{READY}{kinesis.endpoint}", flush=True)
        try:
            return kinesis.wait()
        except KeyboardInterrupt:
            return 0


if __name__ == "__main__":
    sys.exit(main())
