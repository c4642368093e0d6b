"""The pages a user reads, and the code in them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# The line before a fence says why the code cannot run here, for example because it needs AWS.
FENCE = re.compile(
    r"^(?:<!-- not run: (?P<why>[^\n]+) -->\n)?```(?P<language>\w+).*?\n(?P<code>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)
# What the page's Python prints. `masked` hides what differs from run to run.
PRINTED = re.compile(r"^<!-- printed -->\n```text\n(.*?)^```$", re.MULTILINE | re.DOTALL)
VARYING = {
    "<time>": re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)"),
    "micro-batch <number>": re.compile(r"\bmicro-batch \d+"),
    "<sequence number>": re.compile(r"\b\d{56}\b"),
}
LINK = re.compile(r"\]\(([^)\s]+)\)")
ANCHOR = re.compile(r"^#+ (.+)$", re.MULTILINE)


@dataclass(frozen=True, kw_only=True)
class Page:
    """A Markdown file.

    Attributes:
        name: its path in the repository.
    """

    name: str

    @property
    def text(self) -> str:
        """Its content."""
        return (ROOT / self.name).read_text(encoding="utf-8")

    def fences(self, language: str) -> list[str]:
        """The code in a language, without the fences that say why they are not run."""
        found = [it for it in FENCE.finditer(self.text) if it["language"] == language]
        return [it["code"] for it in found if not it["why"]]

    def printed(self) -> list[str]:
        """What its Python prints, according to the page."""
        return PRINTED.findall(self.text)

    def links(self) -> list[str]:
        """Where its links and pictures lead, outside of code."""
        return LINK.findall(FENCE.sub("", self.text))

    def anchors(self) -> set[str]:
        """The headings, as links write them."""
        headings = ANCHOR.findall(FENCE.sub("", self.text))
        return {re.sub(r"[^\w\- ]", "", it).strip().lower().replace(" ", "-") for it in headings}


def masked(text: str) -> str:
    """An output without times and numbers that differ from run to run."""
    for name, pattern in VARYING.items():
        text = pattern.sub(name, text)
    return text


def all_pages() -> list[Page]:
    """Every Markdown file that a user may read."""
    files = [ROOT / "README.md", ROOT / "CHANGELOG.md", *(ROOT / "docs").rglob("*.md")]
    folders = ("python", "localstack", "examples", "examples/log-processing")
    files += [ROOT / folder / "README.md" for folder in folders]
    return [Page(name=str(file.relative_to(ROOT))) for file in sorted(files)]
