"""An S3 server of moto that answers slowly, or with errors, when it is asked to."""

from __future__ import annotations

import logging
import random
import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import boto3
from moto.moto_server.werkzeug_app import DomainDispatcherApplication, create_backend_app
from werkzeug.serving import WSGIRequestHandler, make_server

from tests.campaign.hadoop import hadoop_jars

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

BUCKET = "checkpoints"
KEYS = {"aws_access_key_id": "local", "aws_secret_access_key": "local"}
ERRORS, SLOW, OUTAGE = "periods with errors of S3", "periods in which S3 is slow", "outages of S3"
CONDITIONS = ("HTTP_IF_MATCH", "HTTP_IF_NONE_MATCH")
SLOW_DOWN = b"<Error><Code>SlowDown</Code><Message>Reduce your request rate.</Message></Error>"


class ContinueOnce(WSGIRequestHandler):
    """Sends `100 Continue` once per request.

    Python's `http.server` sends it, and werkzeug sends it again. Hadoop takes the second one for
    the final response.
    """

    def handle_expect_100(self) -> bool:
        """Send nothing, because werkzeug does."""
        return True


class FaultyS3:
    """The server."""

    kinds = (ERRORS, SLOW, OUTAGE)

    def __init__(self, *, is_conditional: bool) -> None:
        """Prepare. Nothing listens yet.

        Args:
            is_conditional: whether a write may be refused because the file is there or has changed.
                Other servers do not know such conditions, and write the file.
        """
        self.name = f"S3 {'with' if is_conditional else 'without'} conditional writes"
        self._app = DomainDispatcherApplication(create_backend_app)
        self._is_conditional = is_conditional
        self._chance = random.Random()
        self._error_rate = 0.0
        """Share of the requests that get a 503 or a 500, from 0 to 1."""
        self._longest_seconds = 0.0
        """Each request waits for up to this time."""
        self._errors = self._conditions = 0
        self.root = f"s3a://{BUCKET}/{time.time_ns()}"
        self.endpoint = ""

    @contextmanager
    def outage(self, kind: str, chance: random.Random) -> Iterator[None]:
        """Be slow, or fail, until the block ends."""
        if kind == SLOW:
            self._longest_seconds = chance.uniform(1, 5)
        else:
            self._error_rate = chance.uniform(0.05, 0.3) if kind == ERRORS else 1
        yield
        self._error_rate = self._longest_seconds = 0.0

    def counts(self) -> dict[str, int]:
        """Number of failed requests, and of conditional writes."""
        return {"failed requests to S3": self._errors, "conditional writes": self._conditions}

    def __call__(self, environ: dict[str, Any], start: Any) -> Iterable[bytes]:
        """Answer a request."""
        time.sleep(self._chance.uniform(0, self._longest_seconds))
        if self._chance.random() < self._error_rate:
            self._errors += 1
            environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
            status = self._chance.choice(("503 Slow Down", "500 Internal Server Error"))
            start(status, [("Content-Type", "application/xml")])
            return [SLOW_DOWN]
        conditions = [it for it in CONDITIONS if it in environ]
        if conditions and environ["REQUEST_METHOD"] in ("PUT", "POST"):
            self._conditions += 1
            if not self._is_conditional:
                for it in conditions:
                    del environ[it]
        answer: Iterable[bytes] = self._app(environ, start)
        return answer

    @contextmanager
    def running(self) -> Iterator[FaultyS3]:
        """Listen on any free port, with an empty bucket."""
        logging.getLogger("werkzeug").setLevel(logging.WARNING)  # otherwise a line per request
        server = make_server("127.0.0.1", 0, self, threaded=True, request_handler=ContinueOnce)
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        self.endpoint = f"http://127.0.0.1:{server.port}"
        try:
            self.client().create_bucket(Bucket=BUCKET)
            yield self
        finally:
            server.shutdown()
            thread.join()
            server.server_close()

    def client(self) -> Any:
        """A client of boto3."""
        return boto3.client("s3", endpoint_url=self.endpoint, region_name="us-east-1", **KEYS)

    def settings(self) -> dict[str, str]:
        """Spark's settings for Hadoop's S3A with this server."""
        return {
            # Spark does not copy what is `local:`.
            "spark.jars": ",".join(f"local:{jar}" for jar in hadoop_jars("hadoop-aws")),
            "spark.hadoop.fs.s3a.endpoint": self.endpoint,
            "spark.hadoop.fs.s3a.endpoint.region": "us-east-1",
            "spark.hadoop.fs.s3a.path.style.access": "true",
            "spark.hadoop.fs.s3a.access.key": KEYS["aws_access_key_id"],
            "spark.hadoop.fs.s3a.secret.key": KEYS["aws_secret_access_key"],
        }
