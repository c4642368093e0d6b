"""The services on this machine: the local Kinesis, DynamoDB Local, and moto's EventBridge."""

from __future__ import annotations

import json
import logging
import os
import re
import shutil
import signal
import subprocess
import time
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.request import Request, urlopen

from moto.server import ThreadedMotoServer

from log_processing.progress import PROGRESS
from log_processing.sending import client
from spark_kinesis.local import LocalKinesis

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

STREAM, TABLE, BUS, GROUP = "app-logs", "logs", "log-alerts", "/aws/events/log-errors"
SOURCES = Path(__file__).resolve().parents[1]
JARS = SOURCES.parents[1] / "target" / "dynamodb-local"
KEYS = {"AWS_ACCESS_KEY_ID": "local", "AWS_SECRET_ACCESS_KEY": "local"}
_START_SECONDS, _STOP_SECONDS, _LAST_LINES = 60.0, 40.0, 25


class TrialError(Exception):
    """The trial cannot go on. The message has the end of the log of the program that failed."""


class Program:
    """A program in a session of its own, whose output goes to a file.

    Args:
        name: its name in messages, and of the file.
        words: command and arguments.
        folder: folder of the file.
        environment: more variables.
    """

    def __init__(self, name: str, words: Sequence[str], folder: Path, **environment: str) -> None:
        """Start it."""
        self.name, self.log = name, folder / f"{name}.log"
        path = os.pathsep.join(filter(None, [str(SOURCES), os.environ.get("PYTHONPATH")]))
        with self.log.open("ab") as output:
            self.process = subprocess.Popen(
                words,
                stdin=subprocess.PIPE,  # DynamoDB Local ends with it
                stdout=output,
                stderr=subprocess.STDOUT,
                env={**os.environ, **KEYS, "PYTHONPATH": path, **environment},
                start_new_session=True,
            )

    def check(self) -> None:
        """Raise ``TrialError`` if it has ended."""
        if self.process.poll() is not None:
            lines = self.log.read_text(errors="replace").splitlines()[-_LAST_LINES:]
            text = f"{self.name} ended with exit code {self.process.returncode}."
            raise TrialError("\n".join([text, *lines]))

    def address(self) -> str:
        """Wait for the line ``listening on http://...`` of its output, and return the URL."""
        deadline = time.monotonic() + _START_SECONDS
        while time.monotonic() < deadline:
            if found := re.search(r"^listening on (\S+)\n", self.log.read_text(), re.MULTILINE):
                return found[1]
            self.check()
            time.sleep(0.05)
        raise TrialError(f"{self.name} did not start within {_START_SECONDS:g} s. See {self.log}.")

    def stop(self, number: int = signal.SIGTERM) -> int:
        """Send a signal, wait, and kill what is left of it. Returns its exit code."""
        with suppress(ProcessLookupError):
            self.process.send_signal(number)
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(_STOP_SECONDS)
        self.kill()
        return self.process.returncode

    def kill(self) -> None:
        """Kill all processes of its group."""
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()


@dataclass(frozen=True)
class Services:
    """The servers, with the stream, the table and the bus. ``folder`` is for logs and files."""

    kinesis: LocalKinesis
    dynamodb: str
    events: str
    folder: Path


@contextmanager
def services(folder: Path) -> Iterator[Services]:
    """Start the servers, and stop them at the end."""
    logging.getLogger("werkzeug").setLevel(logging.ERROR)  # no line per request
    moto = ThreadedMotoServer("127.0.0.1", 0, verbose=False)
    with ExitStack() as stack:
        tables = Program("DynamoDB Local", _dynamodb_command(), folder)
        stack.callback(tables.stop)
        kinesis = stack.enter_context(LocalKinesis(streams={STREAM: 2}))
        moto.start()
        stack.callback(moto.stop)
        host, port = moto.get_host_and_port()
        started = Services(kinesis, tables.address(), f"http://{host}:{port}", folder)
        reset(started.events)
        create_table(started.dynamodb)
        create_bus(started.events)
        yield started


def _dynamodb_command() -> list[str]:
    if not JARS.is_dir():
        raise TrialError(f"DynamoDB Local is not in {JARS}. Run make demo-logs.")
    home = os.environ.get("JAVA_HOME")
    java = shutil.which("java", path=f"{home}/bin" if home else None) or "java"
    options = ["-Xmx512m", "-Dslf4j.internal.verbosity=ERROR", f"-Dsqlite4java.library.path={JARS}"]
    return [java, *options, "-cp", f"{JARS}/*", "logprocessing.DynamoDbLocal"]


def reset(endpoint: str) -> None:
    """Delete all that moto has. Its servers in a process share it."""
    with urlopen(Request(f"{endpoint}/moto-api/reset", method="POST")):  # noqa: S310 our own URL
        pass


def create_table(endpoint: str, name: str = TABLE) -> None:
    """Create the table, as Terraform does."""
    keys = {"pk": "HASH", "sk": "RANGE"}
    client("dynamodb", None, endpoint).create_table(
        TableName=name,
        BillingMode="PAY_PER_REQUEST",
        AttributeDefinitions=[{"AttributeName": it, "AttributeType": "S"} for it in keys],
        KeySchema=[{"AttributeName": it, "KeyType": kind} for it, kind in keys.items()],
    )


def create_bus(endpoint: str, name: str = BUS) -> None:
    """Create the bus, and a rule that sends the alerts to a log group."""
    logs, events = client("logs", None, endpoint), client("events", None, endpoint)
    logs.create_log_group(logGroupName=GROUP)
    (group,) = logs.describe_log_groups(logGroupNamePrefix=GROUP)["logGroups"]
    events.create_event_bus(Name=name)
    pattern = json.dumps({"source": ["log.stream.processor"], "detail-type": ["LogError"]})
    events.put_rule(Name="errors", EventBusName=name, EventPattern=pattern)
    target = {"Id": "group", "Arn": group["arn"].removesuffix(":*")}
    events.put_targets(Rule="errors", EventBusName=name, Targets=[target])


def stored(endpoint: str, name: str = TABLE) -> list[dict[str, Any]]:
    """The items of all events."""
    pages = client("dynamodb", None, endpoint).get_paginator("scan").paginate(TableName=name)
    items = [item for page in pages for item in page["Items"]]
    return [item for item in items if not item["pk"]["S"].startswith(PROGRESS)]


def published(endpoint: str) -> list[dict[str, Any]]:
    """The details of all alerts at the rule's target."""
    pages = client("logs", None, endpoint).get_paginator("filter_log_events")
    found = [event for page in pages.paginate(logGroupName=GROUP) for event in page["events"]]
    return [json.loads(event["message"])["detail"] for event in found]
