"""The findings of an examination, as a notebook and a program use them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import overload

from .finding import Finding, State

_COLORS = {State.OK: "#1a7f37", State.PROBLEM: "#cf222e", State.UNKNOWN: "#9a6700"}
_CSS = (
    ".spark-kinesis-report :is(th, td) "
    "{text-align: left; vertical-align: top; padding: 2px 12px 2px 0}"
)


class Report(Sequence[Finding]):
    """The findings of an examination, in the order of the examination.

    In a notebook, the last expression of a cell shows it as a table. ``print`` shows it as text.
    """

    def __init__(self, findings: Iterable[Finding]) -> None:
        """Keep the findings."""
        self._findings = tuple(findings)

    @overload
    def __getitem__(self, index: int) -> Finding: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Finding]: ...
    def __getitem__(self, index: int | slice) -> Finding | Sequence[Finding]:
        return self._findings[index]

    def __len__(self) -> int:
        return len(self._findings)

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
        return [it for it in self._findings if it.state is state]

    @property
    def verdict(self) -> str:
        """The numbers of findings, in one line."""
        problems, unknown = len(self.problems), len(self.of(State.UNKNOWN))
        total = f"{_count(problems, 'problem')} in {_count(len(self), 'finding')}"
        return f"{total}, {unknown} unknown" if unknown else total

    def __repr__(self) -> str:
        """The remedies, then one line per finding."""
        remedies = [f"{it.state.mark} {it.seen}\n  {it.remedy}\n" for it in self.problems]
        rows = [_line(it) for it in self._findings]
        return "\n".join([*remedies, *rows, self.verdict])

    def _repr_html_(self) -> str:
        """The report for a notebook."""
        remedies = "".join(
            f"<li>{escape(it.seen)}<br><b>{escape(it.remedy)}</b></li>" for it in self.problems
        )
        rows = "".join(map(_row, self._findings))
        head = "".join(f"<th>{it}</th>" for it in ("", "Section", "Subject", "Seen"))
        first = f"<ul>{remedies}</ul>" if remedies else ""
        table = f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"
        parts = f"<style>{_CSS}</style>{first}{table}<p>{escape(self.verdict)}</p>"
        return f'<div class="spark-kinesis-report">{parts}</div>'


def _count(number: int, noun: str) -> str:
    return f"{number or 'no'} {noun}{'' if number == 1 else 's'}"


def _line(it: Finding) -> str:
    lines = [f"{it.state.mark} {it.section}: {it.subject}: {it.seen}"]
    if it.state is State.UNKNOWN and it.remedy:
        lines[0] += f". {it.remedy}"
    return "\n".join([*lines, *(f"    {detail}" for detail in it.details)])


def _row(it: Finding) -> str:
    mark = f'<b style="color:{_COLORS[it.state]}">{it.state.mark}</b>'
    more = it.remedy if it.state is State.UNKNOWN else ""
    seen = escape(f"{it.seen}. {more}" if more else it.seen)
    if it.details:
        lines = "<br>".join(map(escape, it.details))
        seen += f"<details><summary>{len(it.details)} lines</summary>{lines}</details>"
    cells = (mark, escape(it.section), escape(it.subject), seen)
    return "<tr>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>"
