"""The servers of the trial: DynamoDB Local, and moto."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

from botocore.exceptions import BotoCoreError, ClientError

from log_processing.delivery.clients import client

from .eventbridge_server import READY
from .program import Program, ProgramError

MAIN = "logprocessing.DynamoDbLocal"
BUILT = Path(__file__).resolve().parents[4] / "target" / "dynamodb-local"


def start_moto(folder: Path) -> tuple[Program, str]:
    """Start moto's server. Returns it and its URL."""
    words = [sys.executable, "-m", "log_processing.demo.eventbridge_server"]
    program = Program("moto's server", words, folder / "moto.log")
    return program, program.address(READY)


def start_dynamodb(folder: Path, jars: Path = BUILT) -> tuple[Program, str]:
    """Start DynamoDB Local. Returns it and its URL.

    Raises:
        ProgramError: if it does not start, for example because SQLite has no library for this kind
            of machine.
    """
    home = os.environ.get("JAVA_HOME")
    java = shutil.which("java", path=str(Path(home) / "bin") if home else None) or "java"
    if not jars.is_dir():
        raise ProgramError(f"DynamoDB Local is not in {jars}. Run make demo-logs.")
    options = ["-Xmx512m", "-Dslf4j.internal.verbosity=ERROR"]
    words = [java, *options, f"-Dsqlite4java.library.path={jars}", "-cp", f"{jars}/*", MAIN]
    program = Program("DynamoDB Local", words, folder / "dynamodb.log")
    try:
        endpoint = program.address(READY)
        client("dynamodb", "us-east-1", endpoint).list_tables()
    except (ProgramError, BotoCoreError, ClientError) as error:
        program.kill_group()
        raise ProgramError(f"{error}\n{program.last_lines()}") from error
    return program, endpoint
