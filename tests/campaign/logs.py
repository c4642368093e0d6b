"""The warnings and errors of the connector in the logs of a round."""

from __future__ import annotations

import re
from pathlib import Path

CONFIGURATION = Path(__file__).with_name("log4j2.properties")
ENTRY = re.compile(r"^(?=\d{4}-\d\d-\d\d \S+ [A-Z]+ )", re.MULTILINE)
# The jar of the connector has the AWS SDK as `sparkkinesis.shaded`.
OURS = re.compile(r"(?: WARN| ERROR|\bat) sparkkinesis\.(?!shaded\.)|\bKINESIS_[A-Z]")
# A user cannot understand these: a bug of the connector, or a message that is missing.
RAW = re.compile(
    r"NullPointerException|IllegalStateException|UnsupportedOperationException|MatchError"
    r"|NoSuchElementException|ClassCastException|IndexOutOfBounds|AssertionError"
    r"|\bUnexpected\b|: null$",
    re.MULTILINE,
)


def settings() -> dict[str, str]:
    """Spark's settings for logs that can be read here."""
    option = f"-Dlog4j2.configurationFile={CONFIGURATION.as_uri()}"
    return {f"spark.{it}.extraJavaOptions": option for it in ("driver", "executor")}


def entries(folder: Path) -> list[str]:
    """The warnings and errors of the connector, from the logs of driver and executors."""
    logs = [folder / "log", *folder.glob("*/app-*/*/stderr")]
    texts = (it.read_text(errors="replace") for it in logs if it.exists())
    return [it for text in texts for it in ENTRY.split(text) if OURS.search(it)]


def raw_exceptions(entries: list[str]) -> list[str]:
    """The first line of each entry that has an exception of Java and no explanation."""
    return [it.partition("\n")[0] for it in entries if RAW.search(it) or lacks_tls(it)]


def lacks_tls(entry: str) -> bool:
    """Whether an entry has Java's message about a changed byte, which does not mention TLS."""
    return "Tag mismatch" in entry and "TLS" not in entry
