"""What the logs of a round say about the connector: its warnings and errors, each with a name."""

from __future__ import annotations

import re
from pathlib import Path

CONFIGURATION = Path(__file__).with_name("log4j2.properties")
ENTRY = re.compile(r"^(?=\d{4}-\d\d-\d\d \S+ [A-Z]+ )", re.MULTILINE)
# The jar of the connector has the AWS SDK as `sparkkinesis.shaded`.
OURS = re.compile(r"(?: WARN| ERROR|\bat) sparkkinesis\.(?!shaded\.)|\bKINESIS_[A-Z]")
# What a user cannot understand: a bug of the connector, or a message that is missing.
UNNAMED = re.compile(
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


def unnamed(entries: list[str]) -> list[str]:
    """The first line of each entry that has no name for what has happened."""
    return [it.partition("\n")[0] for it in entries if UNNAMED.search(it) or is_bare_tls(it)]


def is_bare_tls(entry: str) -> bool:
    """Whether Java's words for a changed byte stand alone: they do not say that TLS failed."""
    return "Tag mismatch" in entry and "TLS" not in entry
