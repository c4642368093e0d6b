"""The record generator: templates, keys and pace."""

from __future__ import annotations

import json
import random
from collections import Counter
from datetime import datetime, timezone
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spark_kinesis.generate.keys import Keys
from spark_kinesis.generate.pace import SLACK_SECONDS, Pace
from spark_kinesis.generate.template import Moment, parse

NOW = datetime(2026, 1, 2, 3, 4, 5, 678_900, tzinfo=timezone.utc)
MOMENT = Moment(number=7, key="key-3", now=NOW)
WORDS = st.from_regex(r"[a-z ]{0,8}[a-z]", fullmatch=True)
LITERALS = st.text().filter(lambda text: "{{" not in text)
PLACEHOLDERS = st.one_of(
    st.sampled_from(["counter", "now", "epoch", "key", "uuid", " now "]),
    st.integers().map(lambda start: f"counter {start}"),
    st.lists(WORDS, min_size=1).map(lambda words: f"choice {','.join(words)}"),
    st.integers(0, 99).map(lambda length: f"text {length}"),
    st.tuples(st.integers(), st.integers()).map(lambda ends: f"random {min(ends)} {max(ends)}"),
).map(lambda expression: f"{{{{{expression}}}}}")


@given(st.lists(st.one_of(LITERALS, PLACEHOLDERS)))
def test_a_template_keeps_its_source(pieces: list[str]) -> None:
    source = "".join(pieces)
    try:
        template = parse(source)
    except ValueError:
        return  # two literals may form braces together
    assert str(template) == source
    assert parse(str(template)).render(MOMENT, random.Random(1)) == template.render(
        MOMENT, random.Random(1)
    )


@given(LITERALS)
def test_plain_text_is_unchanged(text: str) -> None:
    assert parse(text).render(MOMENT, random.Random(1)) == text


def test_placeholders_are_filled_in() -> None:
    source = '{"a":{"n":{{counter}},"m":{{ counter 100 }},"at":"{{now}} {{epoch}}","k":"{{key}}"}}'
    assert json.loads(parse(source).render(MOMENT, random.Random(1))) == {
        "a": {"n": 7, "m": 107, "at": "2026-01-02T03:04:05.678Z 1767323045678", "k": "key-3"}
    }
    made = parse("{{text 5}}|{{uuid}}|{{choice x, y}}").render(MOMENT, random.Random(1))
    letters, uuid, choice = made.split("|")
    assert (len(letters), letters.isalpha(), uuid[14], choice in "xy") == (5, True, "4", True)


@given(
    st.decimals(-1000, 1000, places=2), st.decimals(-1000, 1000, places=1), st.integers(0, 2**32)
)
def test_a_random_number_lies_within_its_bounds(one: Any, other: Any, seed: int) -> None:
    low, high = sorted((one, other))
    made = parse(f"{{{{random {low} {high}}}}}").render(MOMENT, random.Random(seed))
    assert low <= type(low)(made) <= high
    assert len(made.partition(".")[2]) == 2


@pytest.mark.parametrize(
    ("source", "complaint"),
    [
        ("{{countr}}", r"unknown placeholder \{\{countr\}\}: did you mean counter\?"),
        ("{{}}", "unknown placeholder .*: use one of counter, now"),
        ("a {{now", r"\}\} is missing after '\{\{now'"),
        ("{{now 1}}", "takes no arguments"),
        ("{{counter x}}", "'x' is not a whole number"),
        ("{{random 1}}", "takes two numbers"),
        ("{{random 2 1}}", "must not be greater"),
        ("{{choice}}", "takes words"),
        ("{{text -1}}", "takes a length"),
    ],
)
def test_a_wrong_template_is_explained(source: str, complaint: str) -> None:
    with pytest.raises(ValueError, match=f"template: .*{complaint}"):
        parse(source)


@given(st.integers(0, 2**32), st.integers(1, 4), st.floats(0.05, 1.0))
def test_hot_keys_have_their_share(seed: int, hot: int, share: float) -> None:
    keys, chance, size = Keys(count=10, hot=hot, hot_share=share), random.Random(seed), 2000
    drawn = Counter(keys.choose(chance) for _ in range(size))
    assert set(drawn) <= {f"key-{number}" for number in range(10)}
    found = sum(drawn[f"key-{number}"] for number in range(hot)) / size
    assert abs(found - share) <= 7 * (share * (1 - share) / size) ** 0.5


@pytest.mark.parametrize(
    ("numbers", "option"),
    [
        ({"count": 0}, "--keys"),
        ({"count": 2, "hot": 2, "hot_share": 0.5}, "--hot-keys"),
        ({"count": 2, "hot": 1, "hot_share": 1.5}, "--hot-share"),
        ({"count": 2, "hot": 1}, "belong together"),
        ({"count": 2, "hot_share": 0.5}, "belong together"),
    ],
)
def test_impossible_keys_are_refused(numbers: dict[str, Any], option: str) -> None:
    with pytest.raises(ValueError, match=option):
        Keys(**numbers)


@given(
    st.floats(0.5, 20_000),
    st.lists(st.floats(0, 3), min_size=1, max_size=60),
)
def test_the_rate_is_never_exceeded_over_any_window(rate: float, delays: list[float]) -> None:
    pace, now = Pace(rate=rate), 0.0
    starts: list[tuple[float, int]] = []
    for delay in delays:
        now += pace.wait(now)
        assert pace.wait(now) == 0.0
        starts.append((now, pace.batch))
        pace = pace.after(now, pace.batch)
        now += delay
    for first, (begun, _) in enumerate(starts):
        total = 0
        for ended, size in starts[first:]:
            total += size
            allowed = rate * (ended - begun + SLACK_SECONDS) + pace.batch
            assert total <= allowed + rate * 2e-6


@given(st.floats(0.5, 20_000))
def test_an_undisturbed_pace_keeps_the_rate(rate: float) -> None:
    pace, now = Pace(rate=rate), 0.0
    for _ in range(50):
        now += pace.wait(now)
        pace = pace.after(now, pace.batch)
    assert 50 * pace.batch / rate == pytest.approx(pace.due)


@pytest.mark.parametrize("rate", [0.0, -1.0, float("nan"), float("inf")])
def test_a_rate_is_above_zero(rate: float) -> None:
    with pytest.raises(ValueError, match="--rate must be a number above 0"):
        Pace(rate=rate)
