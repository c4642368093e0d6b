"""The answers that depend on the traffic as a whole."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from spark_kinesis.advise.choices import (
    Choice,
    Job,
    Traffic,
    advise_aggregation,
    advise_buffer,
    advise_executors,
    advise_mode,
    advise_partitions,
    advise_readers,
)
from spark_kinesis.advise.choices.prices import on_demand, provisioned
from spark_kinesis.advise.shards import Rate

MIB = 1024 * 1024


def traffic(records: float, size: float, *, peak: float = 1.0, **more: Any) -> Traffic:
    average = Rate(records=records, bytes=records * size)
    shards = max(1, round(average.times(peak).used / 0.8 + 0.49))
    fields: dict[str, Any] = {"shards": shards, "wanted_shards": shards, "row_bytes": size}
    return Traffic(average=average, peak=average.times(peak), **{**fields, **more})


def test_a_provisioned_stream_costs_its_shards_and_puts() -> None:
    # 2 shards of 0.015 for 730 h, and 100 units per s of 0.014 per million.
    costs = 2 * 0.015 * 730 + 100 * 730 * 3600 * 0.014 / 1e6
    assert provisioned(traffic(100, 1000, wanted_shards=2), 2) == pytest.approx(costs)
    two_units = traffic(100, 26 * 1024)
    assert provisioned(two_units, 2) == pytest.approx(costs + 100 * 730 * 3600 * 0.014 / 1e6)


def test_retention_and_consumers_cost_more() -> None:
    day = traffic(100, 1024)
    week = replace(day, retention=timedelta(days=7))
    assert provisioned(week, 2) - provisioned(day, 2) == pytest.approx(2 * 0.02 * 730)
    stored = 100 * 1024 * 3600 / 2**30  # GB per hour
    assert on_demand(week) - on_demand(day) == pytest.approx(0.1 * stored * 6 * 24)
    month = replace(day, retention=timedelta(days=30))
    assert provisioned(month, 2) - provisioned(week, 2) == pytest.approx(0.023 * stored * 23 * 24)
    read = replace(day, consumers=1)
    gb = 100 * 1024 * 730 * 3600 / 2**30
    assert provisioned(read, 2) - provisioned(day, 2) == pytest.approx(2 * 0.015 * 730 + 0.013 * gb)
    assert on_demand(read) - on_demand(day) == pytest.approx(0.05 * gb)


def test_on_demand_counts_whole_kilobytes() -> None:
    small, whole = traffic(100, 100), traffic(100, 1024)
    written = 100 * 1024 * 730 * 3600 / 2**30 * 0.08
    gb = 100 * 100 * 730 * 3600 / 2**30
    assert on_demand(small) == pytest.approx(0.04 * 730 + written + 0.04 * gb)
    assert on_demand(whole) > on_demand(small)


def test_steady_traffic_is_provisioned_and_rare_traffic_is_on_demand() -> None:
    assert advise_mode(traffic(1000, 1000)).answer == "provisioned"
    rare = advise_mode(traffic(10, 1000, peak=800))
    assert rare.answer == "on-demand"
    assert "800.0 times the average" in " ".join(rare.reasons)
    assert rare.figures["on_demand_usd_per_month"] < rare.figures["provisioned_usd_per_month"]


def test_a_mode_that_costs_about_the_same_stays() -> None:
    close = traffic(100, 1024, wanted_shards=5)
    costs = advise_mode(close).figures
    ratio = costs["on_demand_usd_per_month"] / costs["provisioned_usd_per_month"]
    assert 0.8 < ratio < 1.25
    for mode, answer in (("ON_DEMAND", "on-demand"), ("PROVISIONED", "provisioned")):
        assert advise_mode(replace(close, mode=mode)).answer == answer


def test_small_records_are_aggregated_and_large_ones_are_not() -> None:
    small = advise_aggregation(traffic(10_000, 50), 0.8)
    assert small.answer.startswith("aggregate")
    assert (small.figures["shards_without"], small.figures["shards_with"]) == (13, 1)
    assert advise_aggregation(traffic(100, 20_000), 0.8).answer == "do not aggregate"
    assert "even traffic needs 13 shards and" in small.reasons[0]
    one = advise_aggregation(traffic(100, 50), 0.8)
    assert "even traffic needs 1 shard and" in one.reasons[0]
    packed = advise_aggregation(traffic(100, 20_000, rows_per_record=80), 0.8)
    assert packed.answer == "keep aggregating"


@pytest.mark.parametrize(
    ("changes", "delay", "cause"),
    [
        ({"pollers": 5}, None, "read quota of a shard in the busiest minute"),
        ({"pollers": 2}, 300.0, "You want 300 ms"),
        ({"reads_throttled": 2.0}, None, "refuses 2 reads per second"),
    ],
)
def test_fan_out_has_a_cause(changes: dict[str, float], delay: float | None, cause: str) -> None:
    load = traffic(3000, 1000)
    assert advise_readers(load, delay).answer.startswith("polling")
    found = advise_readers(replace(load, **changes), delay)  # type: ignore[arg-type]
    assert found.answer.startswith("fan-out")
    assert cause in " ".join(found.reasons)
    assert found.figures["fan_out_usd_per_month"] > 0


def test_executors_follow_the_time_per_event() -> None:
    job = Job(seconds_per_event=0.01, cores=4)
    # 1,000 rows at 10 ms are 10 slots, and reading 1 MB at 10 s per GB is 0.01.
    found = advise_executors(traffic(1000, 1000), job)
    assert found.figures == {"busy_slots": pytest.approx(10.01), "executors": 4.0}
    # 16 slots have a spare of 16 / 10.01 - 1 = 0.6: an hour takes 100 minutes.
    text = "After a stop of an hour, this job catches up in 1 h 40 min if the traffic stays at"
    assert text in " ".join(found.reasons)
    assert "The executors limit its speed." in found.reasons[-1]
    assert advise_executors(traffic(1, 1), job).figures["executors"] == 1
    assert "set --seconds-per-event" in " ".join(advise_executors(traffic(1, 1), Job()).reasons)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        # 10 shards give 20 MiB/s, of which 12 are left for a backlog of 480 MiB per minute.
        ({}, "in 40 min if"),
        ({"lag": timedelta(seconds=90)}, "A reader is up to 90 s behind. From there, this job c"),
        ({"lag": timedelta(seconds=90)}, "in 1 min if"),
        ({"lag": timedelta(seconds=89)}, "in less than a minute if"),
        ({"pollers": 2}, "MiB per second and shard, which 2 polling applications share."),
        ({"pollers": 2}, "in 4 h if"),
        ({"pollers": 3}, "this job does not catch up if"),
    ],
)
def test_the_read_quota_limits_how_fast_a_job_catches_up(
    changes: dict[str, Any], said: str
) -> None:
    load = replace(traffic(8192, 1024), shards=10, wanted_shards=10, **changes)
    reasons = advise_executors(load, Job(cores=4)).reasons
    assert said in reasons[-1]
    assert "The read quota of the shards limits its speed: 2 MiB per" in reasons[-1]


def test_fan_out_does_not_share_the_read_quota() -> None:
    load = replace(traffic(8192, 1024), shards=10, wanted_shards=10, pollers=3)
    reasons = advise_executors(load, Job(cores=4, is_fan_out=True)).reasons
    assert "in 40 min if" in reasons[-1]


def test_a_stream_without_traffic_leaves_nothing_to_catch_up() -> None:
    reasons = advise_executors(traffic(0, 0), Job()).reasons
    assert "catches up in less than a minute" in reasons[-1]


def test_a_shard_whose_rows_need_several_slots_is_told() -> None:
    slow = advise_partitions(traffic(1000, 1000), Job(seconds_per_event=0.01))
    assert slow is not None
    assert slow.answer == "minPartitions=16, or 15 shards"
    assert advise_partitions(traffic(1000, 1000), Job(seconds_per_event=0.0001)) is None


def answers(job: Job, load: Traffic) -> Choice:
    return advise_buffer(load, job)


def test_the_buffer_holds_what_arrives_until_a_batch_is_done() -> None:
    load = traffic(4000, 1024)
    assert answers(Job(), load).answer == "the default"
    # 3.9 MiB/s for 60 s and a batch of 60 s; a sixth of 2 GiB is 341 MiB.
    minute = answers(Job(interval=60, heap=2048 * MIB), load)
    assert minute.answer == "469m"
    assert minute.figures["needed_bytes"] == pytest.approx(4000 * 1024 * 120)
    ten = answers(Job(interval=600, heap=2048 * MIB), load)
    assert ten.answer == "the default, and fetchSpillSize=4688m"
    pushed = answers(Job(interval=60, heap=2048 * MIB, is_fan_out=True), load)
    more = pushed.figures["needed_bytes"] - minute.figures["needed_bytes"]
    assert more == load.wanted_shards * 160 * 1024


@pytest.mark.parametrize(
    ("fields", "name"),
    [({"cores": 0}, "cores"), ({"seconds_per_event": -1}, "event"), ({"interval": -1}, "trigger")],
)
def test_a_job_is_checked(fields: dict[str, int], name: str) -> None:
    with pytest.raises(ValueError, match=name):
        Job(**fields)  # type: ignore[arg-type]
