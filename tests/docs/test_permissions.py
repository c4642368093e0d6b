"""The table of permissions against the actions that `spark-kinesis doctor` examines."""

from __future__ import annotations

import re

from spark_kinesis.tools.examination.permissions import ACTIONS, EXACTLY_ONCE, FAN_OUT, READ, WRITE
from tests.docs.pages import Page

ROWS = {
    "Source": READ,
    "Source with `consumerMode=efo`, in addition": FAN_OUT,
    "Sink": WRITE,
    "Sink with `deliveryGuarantee=exactlyOnce`, in addition": EXACTLY_ONCE,
}


def test_the_doctor_examines_each_action_of_the_page() -> None:
    lines = Page(name="docs/how-to/iam.md").text.splitlines()
    cells = [[it.strip() for it in line.strip("|").split(" | ")] for line in lines if "|" in line]
    found = {row[0]: set(re.findall(r"`(\w+:\w+)`", " ".join(row[1:]))) for row in cells}
    for title, use in ROWS.items():
        examined = {name for name, uses in ACTIONS.items() if use in uses}
        assert found[title] == examined, title
