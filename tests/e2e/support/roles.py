"""A security token service on this machine, which gives the same made-up keys to all."""

from __future__ import annotations

from contextlib import contextmanager, suppress
from datetime import datetime, timedelta, timezone
from http.server import BaseHTTPRequestHandler
from typing import TYPE_CHECKING, Any

from tests.e2e.support.stub_server import serving

if TYPE_CHECKING:
    from collections.abc import Iterator

KEY = "ASIAMADEUPROLEKEY001"
SECRET = "made/up+role+secret+0123456789abcdefghijk"  # noqa: S105 made up
TOKEN = "MadeUpRoleToken//zyxwvutsrqponmlkjihgfedcba9876543210"  # noqa: S105 made up
_DAY = timedelta(days=1)


class _Handler(BaseHTTPRequestHandler):
    valid: timedelta

    def handle(self) -> None:
        """Answer, without a word about clients that have gone."""
        with suppress(ConnectionError):
            super().handle()

    def do_POST(self) -> None:
        """Answer `AssumeRole`."""
        self.rfile.read(int(self.headers["Content-Length"]))
        body = _assumed(datetime.now(timezone.utc) + self.valid).encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/xml")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 the name of the base class
        """Print nothing."""


def _assumed(expiry: datetime) -> str:
    return f"""<AssumeRoleResponse><AssumeRoleResult><Credentials>
<AccessKeyId>{KEY}</AccessKeyId><SecretAccessKey>{SECRET}</SecretAccessKey>
<SessionToken>{TOKEN}</SessionToken><Expiration>{expiry:%Y-%m-%dT%H:%M:%SZ}</Expiration>
</Credentials></AssumeRoleResult></AssumeRoleResponse>"""


@contextmanager
def token_service(valid: timedelta = _DAY) -> Iterator[str]:
    """The endpoint of the service, while it runs. Its credentials expire after some time."""

    class Handler(_Handler):
        pass

    Handler.valid = valid
    with serving(Handler) as endpoint:
        yield endpoint
