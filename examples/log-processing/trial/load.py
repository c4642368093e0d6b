"""The events of the trial, for `spark-kinesis generate`."""

from __future__ import annotations

import random
import string
import uuid
from datetime import datetime, timezone
from typing import Any

LEVELS = ["INFO"] * 60 + ["DEBUG"] * 20 + ["WARN"] * 19 + ["ERROR"]
SERVICES = ["checkout", "payments", "search", "shipping"]
KEYS = 1000


def event(number: int) -> tuple[str, dict[str, Any]]:
    """An event. One in a hundred is an error, and one in a hundred lacks its level."""
    chance = random.Random(number)
    now = datetime.now(timezone.utc).replace(tzinfo=None)
    text = "".join(chance.choices(string.ascii_lowercase, k=60))
    return f"key-{chance.randrange(KEYS)}", {
        "timestamp": now.isoformat(timespec="milliseconds") + "Z",
        "level" if chance.randrange(100) else "severity": chance.choice(LEVELS),
        "service": chance.choice(SERVICES),
        "message": f"request {number}: {text}",
        "context": {
            "request": str(uuid.UUID(int=chance.getrandbits(128), version=4)),
            "millis": chance.randint(1, 900),
        },
    }
