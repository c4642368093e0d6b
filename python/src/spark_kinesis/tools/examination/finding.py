"""A finding: one fact about a set-up, and what to do about it. A report: the findings."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from html import escape


class State(Enum):
    """Whether a fact is as the connector needs it."""

    OK = "ok"
    PROBLEM = "problem"
    UNKNOWN = "unknown"

    @property
    def mark(self) -> str:
        """The sign in tables."""
        return {State.OK: "✔", State.PROBLEM: "✘", State.UNKNOWN: "?"}[self]


@dataclass(frozen=True)
class Finding:
    """One fact about a set-up.

    Attributes:
        section: the part of the set-up, such as ``stream``.
        subject: the fact, such as ``retention``.
        state: whether the fact is as the connector needs it.
        seen: what the examination saw, in words. It contains no secret.
        remedy: what to do. Empty if the state is ``OK``.
        details: further lines, such as one per shard.
    """

    section: str
    subject: str
    state: State
    seen: str
    remedy: str = ""
    details: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """What was seen, and how an unknown fact can be seen. Remedies of problems come first."""
        is_short = self.state is State.UNKNOWN and self.remedy
        return f"{self.seen}. {self.remedy}" if is_short else self.seen


@dataclass(frozen=True)
class Section:
    """A part of a set-up, about which there are findings."""

    name: str

    def ok(self, subject: str, seen: str, details: tuple[str, ...] = ()) -> Finding:
        """A fact as the connector needs it."""
        return Finding(self.name, subject, State.OK, seen, details=details)

    def problem(
        self, subject: str, seen: str, remedy: str, details: tuple[str, ...] = ()
    ) -> Finding:
        """A fact that prevents something. The remedy says what to do."""
        return Finding(self.name, subject, State.PROBLEM, seen, remedy, details)

    def unknown(self, subject: str, seen: str, remedy: str = "") -> Finding:
        """A fact that could not be seen. The remedy says how it can be."""
        return Finding(self.name, subject, State.UNKNOWN, seen, remedy)


class Report(tuple[Finding, ...]):
    """The findings of an examination, section by section.

    In a notebook, the last expression of a cell shows it as a table. ``print`` shows it as text.
    """

    __slots__ = ()

    @property
    def problems(self) -> list[Finding]:
        """The findings that need a remedy."""
        return self.of(State.PROBLEM)

    @property
    def is_healthy(self) -> bool:
        """Whether no finding is a problem. Unknown facts do not count."""
        return not self.problems

    def of(self, state: State) -> list[Finding]:
        """The findings with a state."""
        return [it for it in self if it.state is state]

    @property
    def verdict(self) -> str:
        """The numbers of findings, in one line."""
        problems, unknown = len(self.problems), len(self.of(State.UNKNOWN))
        total = f"{_count(problems, 'problem')} in {_count(len(self), 'finding')}"
        return f"{total}, {unknown} unknown" if unknown else total

    def __repr__(self) -> str:
        """The remedies, then one line per finding."""
        lines = [f"{it.state.mark} {it.seen}\n  {it.remedy}\n" for it in self.problems]
        for it in self:
            lines.append(f"{it.state.mark} {it.section}: {it.subject}: {it.text}")
            lines += [f"    {detail}" for detail in it.details]
        return "\n".join([*lines, self.verdict])

    def _repr_html_(self) -> str:
        """The report for a notebook."""
        remedies = "".join(
            f"<li>{escape(it.seen)}<br><b>{escape(it.remedy)}</b></li>" for it in self.problems
        )
        remedies = f"<ul>{remedies}</ul>" if remedies else ""
        head = "".join(f"<th>{it}</th>" for it in ("", "Section", "Subject", "Seen"))
        rows = "".join(map(_row, self))
        return (
            f'<div class="spark-kinesis-report"><style>{_CSS}</style>{remedies}'
            f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"
            f"<p>{escape(self.verdict)}</p></div>"
        )


_COLORS = {State.OK: "#1a7f37", State.PROBLEM: "#cf222e", State.UNKNOWN: "#9a6700"}
_CSS = (
    ".spark-kinesis-report :is(th, td) "
    "{text-align: left; vertical-align: top; padding: 2px 12px 2px 0}"
)


def _count(number: int, noun: str) -> str:
    return f"{number or 'no'} {noun}{'' if number == 1 else 's'}"


def _row(it: Finding) -> str:
    mark = f'<b style="color:{_COLORS[it.state]}">{it.state.mark}</b>'
    seen = escape(it.text)
    if it.details:
        lines = "<br>".join(map(escape, it.details))
        seen += f"<details><summary>{len(it.details)} lines</summary>{lines}</details>"
    cells = (mark, escape(it.section), escape(it.subject), seen)
    return "<tr>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>"
