"""How requests travel to AWS: proxy and timeouts."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from .mapping import MASK
from .values import ABSENT, duration, require


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class Proxy:
    """An HTTP proxy for requests to Kinesis, and to AWS STS if a role is assumed.

    Attributes:
        url: URL of the proxy, such as ``"http://proxy.example.com:3128"``.
        username: name for the proxy; default: the connector does not authenticate.
        password: password for the proxy. Set both or neither.
    """

    url: str
    username: str | None = None
    password: str | None = None

    def __post_init__(self) -> None:
        """Check types. The messages do not show the password."""
        require("url", self.url, str)
        require("username", self.username, str, ABSENT)
        require("password", self.password, str, ABSENT, secret=True)

    def __repr__(self) -> str:
        """Show the fields that are set, with the password masked."""
        name = "" if self.username is None else f", username={self.username!r}"
        password = "" if self.password is None else f", password={MASK!r}"
        return f"Proxy(url={self.url!r}{name}{password})"

    def options(self) -> dict[str, str | None]:
        """The Spark options of this proxy. The password is not masked: do not print it."""
        return {
            "proxy": self.url,
            "proxyUsername": self.username,
            "proxyPassword": self.password,
        }


@dataclass(frozen=True, kw_only=True, slots=True)
class Timeouts:
    """Time limits of calls to AWS. The connector repeats a call that exceeds a limit.

    Attributes:
        connect: maximum time to open a connection; default: 5 s.
        read: maximum time from a request to the end of its response; default: 30 s.
        call: maximum time of a call, including its credentials; default: ``read`` plus 10 s. It
            cannot be less than ``read``, and at most 40 s with
            ``delivery_guarantee="exactly_once"``.
    """

    connect: timedelta | None = None
    read: timedelta | None = None
    call: timedelta | None = None

    def __post_init__(self) -> None:
        """Check types."""
        for name in ("connect", "read", "call"):
            require(name, getattr(self, name), timedelta, ABSENT)

    def options(self) -> dict[str, str | None]:
        """The Spark options of these limits.

        Raises:
            ValueError: if a limit is not a whole number of milliseconds.
        """
        return {
            "connectTimeout": duration("connect", self.connect),
            "readTimeout": duration("read", self.read),
            "callTimeout": duration("call", self.call),
        }
