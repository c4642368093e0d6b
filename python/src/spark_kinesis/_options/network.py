"""How requests travel to AWS: proxy and timeouts."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta

from .declared import check, needed, period, string, texts
from .mapping import MASK


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class Proxy:
    """An HTTP proxy for requests to Kinesis, and to AWS STS if a role is assumed.

    Attributes:
        url: URL of the proxy, such as ``"http://proxy.example.com:3128"``.
        username: name for the proxy; default: the connector does not authenticate.
        password: password for the proxy. Set both or neither.
    """

    url: str = field(metadata=needed("proxy", "url"))
    username: str | None = string("proxyUsername")
    password: str | None = string("proxyPassword", secret=True)

    def __post_init__(self) -> None:
        """Check types. The messages do not show the password."""
        check(self)

    def __repr__(self) -> str:
        """Show the fields that are set, with the password masked."""
        name = "" if self.username is None else f", username={self.username!r}"
        password = "" if self.password is None else f", password={MASK!r}"
        return f"Proxy(url={self.url!r}{name}{password})"

    def options(self) -> dict[str, str | None]:
        """The Spark options of this proxy. The password is not masked: do not print it."""
        return texts(self)


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

    connect: timedelta | None = period("connectTimeout")
    read: timedelta | None = period("readTimeout")
    call: timedelta | None = period("callTimeout")

    def __post_init__(self) -> None:
        """Check types."""
        check(self)

    def options(self) -> dict[str, str | None]:
        """The Spark options of these limits.

        Raises:
            ValueError: if a limit is not a whole number of milliseconds.
        """
        return texts(self)
