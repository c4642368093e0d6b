"""How a source reads its shards: by polling, or by enhanced fan-out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

from .values import ABSENT, require


@dataclass(frozen=True, kw_only=True, slots=True)
class EnhancedFanOut:
    """Kinesis pushes the records to a registered consumer, which has its own throughput per shard.

    Each query needs a consumer of its own, and AWS charges for it.

    Attributes:
        name: name of the consumer in each stream of the source: 1 to 128 letters, digits, ``_``,
            ``.`` and ``-``. If a stream has no such consumer, the query registers it. The query
            never deregisters it. Set this or ``arn``.
        arn: ARN of a consumer, or a list with the ARN of one consumer per stream of the source. The
            query then registers nothing.

    Raises:
        TypeError: if a field has a value of the wrong type. The message names the field.
        ValueError: if you do not set exactly one of the fields, or if a value is blank or contains
            a comma.
    """

    name: str | None = None
    arn: str | Sequence[str] | None = None

    def __post_init__(self) -> None:
        """Check types, and keep a copy that cannot change. The connector checks values."""
        if (self.name is None) == (self.arn is None):
            given = "neither" if self.name is None else "both"
            raise ValueError(f"EnhancedFanOut needs exactly one of name and arn, not {given}")
        require("name", self.name, str, ABSENT)
        require("arn", self.arn, str, list, tuple, ABSENT)
        if self.arn is not None and not isinstance(self.arn, str):
            object.__setattr__(self, "arn", tuple(self.arn))
        for text in self._texts:
            _require_consumer("arn" if self.name is None else "name", text)
        if not self._texts:
            raise ValueError("arn is an empty list: give the ARN of one consumer per stream")

    @property
    def _texts(self) -> tuple[str, ...]:
        given = self.arn if self.name is None else self.name
        return (given,) if isinstance(given, str) else tuple(cast("Sequence[str]", given))

    def options(self) -> dict[str, str]:
        """The options that select this consumer."""
        option = "consumerArn" if self.name is None else "consumerName"
        return {"consumerMode": "efo", option: ",".join(self._texts)}


def _require_consumer(field: str, given: object) -> None:
    require(field, given, str)
    text = str(given)
    if not text.strip():
        raise ValueError(f"{field} is blank: give the {field} of a consumer")
    if "," in text:
        hint = "give one name" if field == "name" else "make it several entries of a list"
        raise ValueError(f"{field} is {text!r}, which contains a comma: {hint}")
