"""An S3 server of moto that answers slowly, or with errors, when it is asked to."""

from __future__ import annotations

import logging
import os
import random
import subprocess
import threading
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import boto3
import pyspark
from moto.moto_server.werkzeug_app import DomainDispatcherApplication, create_backend_app
from werkzeug.serving import make_server

from tests.campaign.rounds import FOLDER

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

JARS = Path(pyspark.__file__).parent / "jars"
BUCKET = "checkpoints"
KEYS = {"aws_access_key_id": "local", "aws_secret_access_key": "local"}
SLOW_DOWN = b"<Error><Code>SlowDown</Code><Message>Reduce your request rate.</Message></Error>"


class FaultyS3:
    """The server. Change its fields at any time."""

    def __init__(self) -> None:
        """Prepare. Nothing listens yet."""
        self._app = DomainDispatcherApplication(create_backend_app)
        self.chance = random.Random()
        self.error_rate = 0.0
        """Share of the requests that get a 503 or a 500, from 0 to 1."""
        self.longest_seconds = 0.0
        """Each request waits for up to this time."""
        self.errors = 0
        """Number of these answers so far."""
        self.endpoint = ""

    def calm(self) -> None:
        """Answer each request at once."""
        self.error_rate = self.longest_seconds = 0.0

    def __call__(self, environ: dict[str, Any], start: Any) -> Iterable[bytes]:
        """Answer a request."""
        time.sleep(self.chance.uniform(0, self.longest_seconds))
        if self.chance.random() < self.error_rate:
            self.errors += 1
            environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
            status = self.chance.choice(("503 Slow Down", "500 Internal Server Error"))
            start(status, [("Content-Type", "application/xml")])
            return [SLOW_DOWN]
        answer: Iterable[bytes] = self._app(environ, start)
        return answer

    @contextmanager
    def running(self) -> Iterator[FaultyS3]:
        """Listen on any free port, with an empty bucket."""
        logging.getLogger("werkzeug").setLevel(logging.WARNING)  # otherwise a line per request
        server = make_server("127.0.0.1", 0, self, threaded=True)
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        self.endpoint = f"http://127.0.0.1:{server.port}"
        try:
            client = boto3.client("s3", endpoint_url=self.endpoint, region_name="us-east-1", **KEYS)
            client.create_bucket(Bucket=BUCKET)
            yield self
        finally:
            server.shutdown()
            thread.join()
            server.server_close()

    def settings(self) -> dict[str, str]:
        """Spark's settings for Hadoop's S3A with this server."""
        return {
            # Spark does not copy what is `local:`.
            "spark.jars": ",".join(f"local:{jar}" for jar in s3a_jars()),
            "spark.hadoop.fs.s3a.endpoint": self.endpoint,
            "spark.hadoop.fs.s3a.endpoint.region": "us-east-1",
            "spark.hadoop.fs.s3a.path.style.access": "true",
            "spark.hadoop.fs.s3a.access.key": KEYS["aws_access_key_id"],
            "spark.hadoop.fs.s3a.secret.key": KEYS["aws_secret_access_key"],
        }


def s3a_jars() -> list[Path]:
    """Hadoop's S3A, in the version of Spark's Hadoop. Ivy downloads 560 MB, once."""
    (client,) = JARS.glob("hadoop-client-api-*.jar")
    version = client.stem.removeprefix("hadoop-client-api-")
    folder = FOLDER / "jars" / f"hadoop-aws-{version}"
    if not folder.exists():
        (ivy,) = JARS.glob("ivy-*.jar")
        java = Path(os.environ["JAVA_HOME"], "bin", "java")
        part = folder.with_name(f"{folder.name}.part")
        pattern = f"{part}/[artifact]-[revision](-[classifier]).[ext]"
        wanted = ["-dependency", "org.apache.hadoop", "hadoop-aws", version, "-confs", "default"]
        command = [str(java), "-jar", str(ivy), *wanted, "-retrieve", pattern]
        subprocess.run(command, check=True)  # Ivy prints its progress
        part.rename(folder)
    return sorted(folder.glob("*.jar"))
