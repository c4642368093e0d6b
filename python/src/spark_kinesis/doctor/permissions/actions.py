"""The actions of docs/how-to/iam.md, and what needs them. Makes no calls."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


class Use(Enum):
    """What a query does with a stream."""

    READ = "read"
    FAN_OUT = "fan-out"
    WRITE = "write"
    EXACTLY_ONCE = "exactly-once"


@dataclass(frozen=True)
class Action:
    """An IAM action.

    Attributes:
        name: its name, such as ``kinesis:GetRecords``.
        uses: what needs it.
    """

    name: str
    uses: frozenset[Use]

    @property
    def is_of_key(self) -> bool:
        """Whether it is an action on the KMS key of the stream."""
        return self.name.startswith("kms:")


def _action(name: str, *uses: Use) -> Action:
    return Action(name, frozenset(uses))


REGISTER = "kinesis:RegisterStreamConsumer"
ACTIONS = (
    _action("kinesis:DescribeStreamSummary", Use.READ, Use.WRITE),
    _action("kinesis:ListShards", Use.READ, Use.WRITE),
    _action("kinesis:GetShardIterator", Use.READ, Use.EXACTLY_ONCE),
    _action("kinesis:GetRecords", Use.READ, Use.EXACTLY_ONCE),
    _action("kms:Decrypt", Use.READ, Use.EXACTLY_ONCE),
    _action("kinesis:SubscribeToShard", Use.FAN_OUT),
    _action("kinesis:DescribeStreamConsumer", Use.FAN_OUT),
    _action(REGISTER, Use.FAN_OUT),
    _action("kinesis:PutRecords", Use.WRITE),
    _action("kms:GenerateDataKey", Use.WRITE),
)


def uses_of(words: Iterable[str], *, has_consumer: bool) -> frozenset[Use]:
    """The uses of a query.

    Args:
        words: ``read``, ``write`` and ``exactly-once``, which includes ``write``.
        has_consumer: whether the query has a consumer of enhanced fan-out.

    Raises:
        ValueError: for another word.
    """
    found = {Use(word) for word in words}
    if Use.EXACTLY_ONCE in found:
        found.add(Use.WRITE)
    return frozenset(found | {Use.READ, Use.FAN_OUT} if has_consumer else found)
