"""The page of results and its plots, made from the kept rounds.

The rounds of a part, commit and machine in a folder are a row of `docs/reference/reliability.md`.
Rows of other folders stay. The plots are in `target/campaign/index.html`: each gauge over the
rounds, and each sample as a histogram.
"""

from __future__ import annotations

import html
import math
import re
from collections import Counter, defaultdict
from typing import TYPE_CHECKING

from tests.campaign.rounds import Part, Round, rounds_of

if TYPE_CHECKING:
    from pathlib import Path

WIDTH, HEIGHT = 640, 160  # of a plot, in pixels
BARS = 40  # of a histogram
HEAD = """\
# Reliability

`make campaign` repeats the tests of this repository for hours. Each round uses new seeds, which
have not run before. The local Kinesis, Spark and the connector run on one machine, without AWS.
We wrote the local Kinesis. It shares classes with the connector, and these tests may miss errors
in the shared classes.
`make campaign PART=histories HOURS=0.5` runs one part for half an hour, and adds its rounds to
this page. The rows of other machines stay.

The second table has a row per part, commit, machine and folder. `+` after a commit means that files
differed from it. *Simulated* is the time that passed on simulated clocks. *Seeds* is the number of
seeds, and the first one. Rows count as *foreign* if nobody wrote them, and as *twice* if they are
duplicates.
"""
FOUND = (
    "`tests/golden/seeds.txt` says what a history has found. `make test` runs it again each time."
)
TAIL = """
## Experiments that need AWS

This project has no AWS account, so nobody ran these experiments:

- Return errors to the role of the application with AWS Fault Injection Service, by the actions
  `aws:fis:inject-api-internal-error`, `aws:fis:inject-api-throttle-error`,
  `aws:fis:inject-api-unavailable-error`, `aws:kinesis:inject-api-provisioned-throughput-exception`
  and `aws:kinesis:inject-api-expired-iterator-exception`. We read this in the documentation of
  Kinesis Data Streams.
- Put real load on a stream in on-demand mode, so that Kinesis changes its shards.
- Keep checkpoints on Amazon S3 while S3 throttles requests.
"""
ROW = re.compile(r"\| \w+ \| `")  # begins with the part and the commit
FAILURE = re.compile(r"- (\w+), commit ")
COLUMNS = (
    "Part | Commit | Date | Machine | Wall time | Simulated | Rounds | Seeds | Result | Failures"
)


def write_pages(parts: dict[str, Part], folder: Path, page: Path) -> None:
    """Write the page and the plots from the rounds in a folder."""
    groups = grouped([it for part in parts for it in rounds_of(part, folder)])
    if groups:
        old_page = page.read_text(encoding="utf-8") if page.exists() else ""
        page.write_text(text_of(parts, groups, old_page), encoding="utf-8")
        (folder / "index.html").write_text(plots_of(groups), encoding="utf-8")


def grouped(rounds: list[Round]) -> list[list[Round]]:
    """The rounds of each row."""
    groups = defaultdict(list)
    for it in rounds:
        groups[it.part, it.commit, it.machine].append(it)
    return list(groups.values())


def text_of(parts: dict[str, Part], groups: list[list[Round]], old_page: str) -> str:
    """The page, with the rows and failures of the old page."""
    lines = old_page.splitlines()
    old_rows = [line[2:-2].split(" | ") for line in lines if ROW.match(line)]
    rows = {key(cells): cells for cells in (*old_rows, *map(row, groups)) if cells[0] in parts}
    names = [name for name in parts if any(cells[0] == name for cells in rows.values())]
    failures = [line for line in lines if (found := FAILURE.match(line)) and found[1] in parts]
    failed = [it for rounds in groups for it in rounds if it.outcome.failure]
    for it in failed:
        line = f"- {it.part}, commit {it.commit}: `{it.outcome.repeat}`"
        if not any(known.startswith(line) for known in failures):  # somebody explained it
            failures.append(line)
    page = [HEAD, "| Part | What a round does |", "|---|---|"]
    page += [f"| {name} | {parts[name].subject} |" for name in names]
    page += ["", f"| {COLUMNS} |", "|---|---|---|---|--:|--:|--:|---|---|---|"]
    page += [
        f"| {' | '.join(cells)} |" for name in names for cells in rows.values() if cells[0] == name
    ]
    if failures:
        page += ["", "## Failures", "", FOUND, "", *failures]
    return "\n".join(page) + "\n" + TAIL


def key(cells: list[str]) -> tuple[str, str, str, str]:
    """Part, commit, machine and first seed of a row: each folder begins with another seed."""
    part, commit, _, machine, _, _, _, seeds, *_ = cells
    return part, commit, machine, seeds.rpartition(" ")[2]


def row(rounds: list[Round]) -> list[str]:
    """The cells of a row."""
    first, last = rounds[0], rounds[-1]
    days = dict.fromkeys(it.date[:10] for it in (first, last))
    return [
        first.part,
        f"`{first.commit}`",
        " to ".join(days),
        first.machine,
        duration(sum(it.wall_seconds for it in rounds)),
        duration(sum(it.outcome.simulated_seconds for it in rounds)),
        f"{len(rounds):,}",
        f"{sum(it.seeds for it in rounds):,} from {first.seed}",
        "<br>".join(results(rounds)),
        str(sum(bool(it.outcome.failure) for it in rounds)),
    ]


def results(rounds: list[Round]) -> list[str]:
    """The sums of counts, and percentiles of samples."""
    counts: Counter[str] = Counter()
    for it in rounds:
        counts.update(it.outcome.counts)
    found = [f"{name}: {count:,}" for name, count in counts.items()]
    for name, values in samples_of(rounds).items():
        middle, late = percentile(values, 50), percentile(values, 99)
        found.append(f"{name}: p50 {middle:.1f} s, p99 {late:.1f} s, longest {max(values):.1f} s")
    return found


def samples_of(rounds: list[Round]) -> dict[str, list[float]]:
    """All values of each sample."""
    found: dict[str, list[float]] = defaultdict(list)
    for it in rounds:
        for name, values in it.outcome.samples.items():
            found[name] += values
    return {name: values for name, values in found.items() if values}


def gauges_of(rounds: list[Round]) -> dict[str, list[float]]:
    """The values of each gauge, by round."""
    found: dict[str, list[float]] = defaultdict(list)
    for it in rounds:
        for name, value in it.outcome.gauges.items():
            found[name].append(value)
    return dict(found)


def percentile(values: list[float], percent: int) -> float:
    """The smallest value that so many percent of the values do not exceed."""
    return sorted(values)[math.ceil(len(values) * percent / 100) - 1]


def duration(seconds: float) -> str:
    """A duration for readers, such as `2.5 h`; empty for none."""
    for unit, size in (("years", 31_536_000), ("days", 86_400), ("h", 3600), ("min", 60)):
        if seconds >= 2 * size:
            return f"{seconds / size:,.1f} {unit}"
    return f"{seconds:.0f} s" if seconds else ""


def plots_of(groups: list[list[Round]]) -> str:
    """The plots, as one page of HTML."""
    body = []
    for rounds in groups:
        body.append(f"<h2>{rounds[0].part}, commit {html.escape(rounds[0].commit)}</h2>")
        for name, values in gauges_of(rounds).items():
            body.append(plot(f"{name}, by round", values, is_histogram=False))
        for name, values in samples_of(rounds).items():
            body.append(plot(f"{name}, in seconds", values, is_histogram=True))
    style = "body{font-family:sans-serif;margin:2em}rect,circle{fill:#36c}"
    head = f"<meta charset=utf-8><title>Reliability campaign</title><style>{style}</style>"
    return f"<!doctype html>{head}<h1>Reliability campaign</h1>{''.join(body)}"


def plot(title: str, values: list[float], *, is_histogram: bool) -> str:
    """A histogram of values, or a point per value, with the smallest and the largest one."""
    low, high = min(values), max(values)
    if is_histogram:
        bars = Counter(min(BARS - 1, int((v - low) / ((high - low) or 1) * BARS)) for v in values)
        wide = WIDTH / BARS
        marks = [
            f'<rect x="{bar * wide:.1f}" y="{HEIGHT - tall:.1f}" width="{wide - 1:.1f}" '
            f'height="{tall:.1f}"/>'
            for bar, count in sorted(bars.items())
            for tall in [count / max(bars.values()) * HEIGHT]
        ]
        axis = f"{low:,.1f} to {high:,.1f}; highest bar: {max(bars.values())} of {len(values)}"
    else:
        top = high or 1.0  # the axis begins at 0, so that a slope is not exaggerated
        marks = [
            f'<circle cx="{(n + 0.5) * WIDTH / len(values):.1f}" '
            f'cy="{HEIGHT - max(0.0, value) / top * HEIGHT:.1f}" r="2"/>'
            for n, value in enumerate(values)
        ]
        axis = f"0 to {high:,.1f}, over {len(values)} rounds"
    svg = f'<svg width="{WIDTH}" height="{HEIGHT + 4}">{"".join(marks)}</svg>'
    return f"<h3>{html.escape(title)}</h3>{svg}<p>{html.escape(axis)}</p>"
