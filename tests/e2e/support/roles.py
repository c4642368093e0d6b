"""A security token service on this machine, which gives the same made-up credentials to all."""

from __future__ import annotations

from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler
from typing import TYPE_CHECKING, Any

from tests.e2e.support.stub_server import serving

if TYPE_CHECKING:
    from collections.abc import Iterator

KEY = "ASIAMADEUPROLEKEY001"
SECRET = "made/up+role+secret+0123456789abcdefghijk"  # noqa: S105 made up
TOKEN = "MadeUpRoleToken//zyxwvutsrqponmlkjihgfedcba9876543210"  # noqa: S105 made up
_ASSUMED = f"""<AssumeRoleResponse><AssumeRoleResult><Credentials>
<AccessKeyId>{KEY}</AccessKeyId><SecretAccessKey>{SECRET}</SecretAccessKey>
<SessionToken>{TOKEN}</SessionToken><Expiration>2099-01-01T00:00:00Z</Expiration>
</Credentials></AssumeRoleResult></AssumeRoleResponse>"""


class _Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        """Answer `AssumeRole`."""
        self.rfile.read(int(self.headers["Content-Length"]))
        body = _ASSUMED.encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/xml")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 the name of the base class
        """Print nothing."""


@contextmanager
def token_service() -> Iterator[str]:
    """The endpoint of the service, while it runs."""
    with serving(_Handler) as endpoint:
        yield endpoint
