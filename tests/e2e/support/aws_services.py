"""The services that give credentials, and a Kinesis that reports who called it, on this machine."""

from __future__ import annotations

import json
import re
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, urlsplit

from tests.e2e.support.stub_server import cbor_text, serving

if TYPE_CHECKING:
    from collections.abc import Iterator

EXPIRY = "2099-01-01T00:00:00Z"
EXPIRY_MILLIS = 4070908800000
INSTANCE = "/latest/meta-data/iam/security-credentials/"
NOT_FOUND = b"\xa2" + b"".join(
    map(cbor_text, ("__type", "ResourceNotFoundException", "message", "no such stream"))
)


@dataclass
class AwsServices:
    """What the services have seen. Each gives keys whose ID is the name of the service.

    Attributes:
        endpoint: URL of all services.
        callers: the IDs of the keys that signed calls to Kinesis, in their order.
        asked: what each service was asked for, such as a role or a token.
        agents: the header `User-Agent` of calls to Kinesis.
        proxied: the hosts and ports that a client asked for as if this was a proxy.
    """

    endpoint: str
    callers: list[str] = field(default_factory=list)
    asked: dict[str, dict[str, str]] = field(default_factory=dict)
    agents: list[str] = field(default_factory=list)
    proxied: list[str] = field(default_factory=list)

    def environment(self) -> dict[str, str]:
        """Environment variables that lead the AWS SDK to these services."""
        return {
            "AWS_ENDPOINT_URL_STS": self.endpoint,
            "AWS_ENDPOINT_URL_SSO": self.endpoint,
            "AWS_EC2_METADATA_SERVICE_ENDPOINT": self.endpoint,
        }


@contextmanager
def aws_services() -> Iterator[AwsServices]:
    """Run the services."""
    seen = AwsServices("")

    class Handler(_Handler):
        services = seen

    with serving(Handler) as seen.endpoint:
        yield seen


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    services: AwsServices

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0))).decode(errors="replace")
        if "X-Amz-Target" in self.headers:
            self.services.callers.append(_signer(self.headers["Authorization"]))
            self.services.agents.append(self.headers["User-Agent"])
            self._answer(400, NOT_FOUND, "application/x-amz-cbor-1.1")
            return
        asked = {name: values[0] for name, values in parse_qs(body).items()}
        action = asked["Action"]
        if signed := self.headers.get("Authorization"):
            asked["signer"] = _signer(signed)
        self.services.asked[action] = asked
        self._answer(200, _assumed(action).encode(), "text/xml")

    def do_CONNECT(self) -> None:
        self.services.proxied.append(self.path)
        self._answer(407, b"", "text/plain")

    def do_PUT(self) -> None:
        self._answer(200, b"session-of-instance", "text/plain")

    def do_GET(self) -> None:
        url = urlsplit(self.path)
        if url.path == "/federation/credentials":
            asked = {name: values[0] for name, values in parse_qs(url.query).items()}
            asked["token"] = self.headers["x-amz-sso_bearer_token"]
            self.services.asked["sso"] = asked
            self._json({"roleCredentials": _sso_keys()})
        elif url.path == "/container":
            self.services.asked["container"] = {"token": self.headers["Authorization"]}
            self._json(_keys("CONTAINER"))
        elif url.path == INSTANCE:
            self._answer(200, b"role-of-instance", "text/plain")
        elif url.path == f"{INSTANCE}role-of-instance":
            self.services.asked["instance"] = {"token": self.headers["x-aws-ec2-metadata-token"]}
            self._json({"Code": "Success", **_keys("INSTANCE")})
        else:
            self._answer(404, b"", "text/plain")

    def _json(self, value: object) -> None:
        self._answer(200, json.dumps(value).encode(), "application/json")

    def _answer(self, status: int, body: bytes, kind: str) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Do not log."""


def _signer(authorization: str) -> str:
    found = re.search(r"Credential=([^/]+)/", authorization)
    assert found, authorization
    return found[1]


def _keys(key: str) -> dict[str, str]:
    return {"AccessKeyId": key, "SecretAccessKey": "hush", "Token": "t", "Expiration": EXPIRY}


def _sso_keys() -> dict[str, str | int]:
    keys = {"accessKeyId": "SSO", "secretAccessKey": "hush", "sessionToken": "t"}
    return {**keys, "expiration": EXPIRY_MILLIS}


def _assumed(action: str) -> str:
    keys = (
        f"<AccessKeyId>{action}</AccessKeyId><SecretAccessKey>hush</SecretAccessKey>"
        f"<SessionToken>t</SessionToken><Expiration>{EXPIRY}</Expiration>"
    )
    result = f"<{action}Result><Credentials>{keys}</Credentials></{action}Result>"
    return f"<{action}Response>{result}</{action}Response>"
