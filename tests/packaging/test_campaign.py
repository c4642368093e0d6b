"""The runner of the campaign, with parts of ours: it goes on after a failure, and resumes."""

from __future__ import annotations

import os
import re
import signal
import socket
import ssl
from collections import Counter, defaultdict
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING, cast
from urllib.parse import urlsplit

import pytest

from python.tests.doctor.servers import certified
from tests.campaign import __main__ as campaign
from tests.campaign import copies, logs, networks
from tests.campaign.copies import Copies, Target
from tests.campaign.fuzz import executions, finding
from tests.campaign.fuzz import repeat as again
from tests.campaign.histories import added, first_failure
from tests.campaign.page import percentile
from tests.campaign.proxy import Proxy
from tests.campaign.rounds import Outcome, Part, rounds_of
from tests.campaign.soak import JUDGED, LIMITS, WARM_UP, growth
from tests.campaign.soak_session import descriptors
from tests.e2e.support.streams import Written

if TYPE_CHECKING:
    from collections.abc import Iterator
    from contextlib import AbstractContextManager
    from pathlib import Path

    from tests.campaign.rounds import Play
    from tests.e2e.support.streams import Stream


@pytest.fixture(autouse=True)
def _places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(campaign, "FOLDER", tmp_path / "rounds")
    monkeypatch.setattr(campaign, "PAGE", tmp_path / "page.md")
    monkeypatch.setattr(campaign, "first_seed", lambda: 100)
    monkeypatch.setattr(campaign, "PARTS", {"some": part(plain)})
    monkeypatch.setenv("PYTHONPATH", os.environ.get("PYTHONPATH", ""))


def part(play: Play, openings: list[Play] | None = None) -> Part:
    @contextmanager
    def opened() -> Iterator[Play]:
        if openings is not None:
            openings.append(play)
        yield play

    return Part("some", "counts its rounds", opened, seeds=10)


def plain(seed: int, folder: Path) -> Outcome:
    assert not list(folder.iterdir())
    (folder / "left").touch()
    samples = {"wait": [float(seed)]}
    return Outcome({"rows": 1000}, samples, {"heap": 7.0}, simulated_seconds=3600)


def use(monkeypatch: pytest.MonkeyPatch, play: Play) -> None:
    monkeypatch.setattr(campaign, "PARTS", {"some": part(play)})


def test_a_later_run_adds_rounds_with_new_seeds(tmp_path: Path) -> None:
    for _ in range(3):
        assert campaign.main(["some", "--hours", "0"]) == 0
    rounds = rounds_of("some", tmp_path / "rounds")
    assert [(it.seed, it.last_seed) for it in rounds] == [(100, 109), (110, 119), (120, 129)]
    page = (tmp_path / "page.md").read_text(encoding="utf-8")
    (row,) = [line for line in page.splitlines() if line.startswith("| some | `")]
    assert "| 3.0 h | 3 | 30 from 100 | rows: 3,000<br>" in row
    assert "wait: p50 110.0 s, p99 120.0 s, longest 120.0 s" in row
    assert row.endswith(" | 0 |")
    assert "<circle" in (tmp_path / "rounds" / "index.html").read_text(encoding="utf-8")


def test_the_page_keeps_the_rows_and_failures_of_other_folders(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(name: str) -> Part:
        @contextmanager
        def opened() -> Iterator[Play]:
            yield lambda *_: Outcome({"rows": 5}, failure="no", repeat="again")

        return Part(name, f"is {name}", opened)

    monkeypatch.setattr(campaign, "PARTS", {name: fails(name) for name in ("some", "other")})
    page, explained = tmp_path / "page.md", "some, commit c: `again`. It was the test."
    runs = (("1", "one", 100), ("2", "one", 200), ("2", "one", 200), ("3", "other", 100))
    for folder, machine, seed in runs:
        monkeypatch.setattr(campaign, "FOLDER", tmp_path / folder)
        monkeypatch.setattr(campaign, "machine", lambda it=machine: it)
        monkeypatch.setattr(campaign, "commit", lambda: "c")
        monkeypatch.setattr(campaign, "first_seed", lambda it=seed: it)
        parts = "some" if folder == "1" else "some,other"
        assert campaign.main([parts, "--hours", "0"]) == 1
        text = page.read_text(encoding="utf-8")
        page.write_text(text.replace("some, commit c: `again`\n", f"{explained}\n"))
    lines = page.read_text(encoding="utf-8").splitlines()
    rows = [line[2:-2].split(" | ") for line in lines if re.match(r"\| (some|other) \| `", line)]
    assert [(it[0], it[3], it[6], it[7]) for it in rows] == [
        ("some", "one", "1", "1 from 100"),
        ("some", "one", "2", "2 from 200"),
        ("some", "other", "1", "1 from 100"),
        ("other", "one", "2", "2 from 200"),
        ("other", "other", "1", "1 from 100"),
    ]
    assert "| some | is some |" in lines
    told = [line for line in lines if line.startswith("- ")][:2]
    assert told == [f"- {explained}", "- other, commit c: `again`"]


def test_a_plus_marks_a_commit_if_files_of_others_differ(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(campaign, "ROOT", tmp_path)
    own, others = tmp_path / campaign.REPORT, tmp_path / "code"
    own.parent.mkdir(parents=True)
    for it in (own, others):
        it.write_text("before")
    campaign.git("init", "-q")
    campaign.git("add", ".")
    campaign.git("-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "first")
    commit = campaign.commit.__wrapped__
    for it, is_marked in ((own, False), (others, True)):
        it.write_text("after")
        assert commit().endswith("+") == is_marked


def test_connections_are_told_from_files(tmp_path: Path) -> None:
    before = descriptors(os.getpid())
    with (tmp_path / "file").open("w"), socket.create_server(("127.0.0.1", 0)):
        now = Counter(descriptors(os.getpid()))
    more = [*(now - Counter(before))]
    assert str(tmp_path / "file") in more
    assert sum(it.startswith("socket:") for it in more) == 1


def test_a_failure_is_kept_with_its_seed_and_the_campaign_goes_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    seeds = []

    def play(seed: int, folder: Path) -> Outcome:
        seeds.append(seed)
        if seed == 100:
            raise ValueError("it broke")
        if len(seeds) > 2:
            raise KeyboardInterrupt
        return plain(seed, folder)

    opened: list[Play] = []
    with pytest.raises(KeyboardInterrupt):
        campaign.run([part(play, opened)], 3600, tmp_path)
    assert seeds == [100, 110, 120]
    assert len(opened) == 2, "the broken server or session is replaced"
    first, *others = rounds_of("some", tmp_path)
    assert "it broke" in first.outcome.failure
    assert (tmp_path / "some-100").is_dir()
    assert first.outcome.repeat == "make campaign PART=some SEED=100"
    assert not any(it.outcome.failure for it in others)
    assert "To repeat it: make campaign PART=some SEED=100" in capsys.readouterr().out


def test_the_exit_status_and_the_page_show_a_failure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    use(monkeypatch, lambda *_: Outcome(failure="lost", repeat="SEED=7 again"))
    assert campaign.main(["some", "--hours", "0"]) == 1
    page = (tmp_path / "page.md").read_text(encoding="utf-8")
    assert "`SEED=7 again`" in page
    assert page.count(" | 1 |\n") == 1


def test_a_seed_is_repeated_and_not_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    use(monkeypatch, lambda seed, _: Outcome(failure=f"failed with {seed}"))
    assert campaign.main(["some", "--seed", "7"]) == 1
    assert rounds_of("some", tmp_path / "rounds") == []


def test_a_signal_ends_the_round_and_the_page_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert campaign.main(["some", "--hours", "0"]) == 0
    (tmp_path / "page.md").unlink()

    def play(seed: int, folder: Path) -> Outcome:
        os.kill(os.getpid(), signal.SIGTERM)
        return plain(seed, folder)

    use(monkeypatch, play)
    before = signal.getsignal(signal.SIGTERM)
    try:
        assert campaign.main(["some", "--hours", "1"]) == campaign.STOPPED
    finally:
        signal.signal(signal.SIGTERM, before)
    assert (tmp_path / "page.md").exists()
    assert len(rounds_of("some", tmp_path / "rounds")) == 1


def test_another_folder_has_a_page_of_its_own(tmp_path: Path) -> None:
    other = tmp_path / "other"
    assert campaign.main(["some", "--hours", "0", "--folder", str(other)]) == 0
    assert len(rounds_of("some", other)) == 1
    assert (other / "page.md").exists()
    assert not (tmp_path / "page.md").exists()


def test_a_part_that_cannot_be_prepared_is_a_failed_round_and_the_others_run(
    tmp_path: Path,
) -> None:
    def broken() -> AbstractContextManager[Play]:
        raise OSError("no server")

    parts = [Part("broken", "cannot begin", broken), part(plain)]
    assert campaign.run(parts, 0, tmp_path) == 1
    (it,) = rounds_of("broken", tmp_path)
    assert "no server" in it.outcome.failure
    assert len(rounds_of("some", tmp_path)) == 1


def test_a_seed_of_make_does_not_reach_the_suites(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEED", "7")

    def play(seed: int, folder: Path) -> Outcome:
        assert "SEED" not in os.environ
        return plain(seed, folder)

    use(monkeypatch, play)
    assert campaign.main(["some", "--seed", "7"]) == 0


def test_only_one_run_uses_a_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    def play(seed: int, folder: Path) -> Outcome:
        with pytest.raises(SystemExit):
            campaign.main(["some", "--hours", "0"])
        return plain(seed, folder)

    use(monkeypatch, play)
    assert campaign.main(["some", "--hours", "0"]) == 0


def test_an_unknown_part_is_refused() -> None:
    with pytest.raises(SystemExit):
        campaign.main(["other"])


def test_the_output_of_the_simulations_is_read() -> None:
    output = """DeliverySimulation:
- a query reads each record once (2 seconds)
  + 40000 simulated seconds
  + 100 histories, 2000 rows
SinkSimulation:
- the sink keeps its promises *** FAILED *** (1 second)
  2 histories failed: replay with SEED=4711 STEPS=8 (lost); others are 4712
"""
    assert added(output, "histories") == 100
    assert added(output, "rows") == 2000
    assert added(output, "simulated seconds") == 40000
    assert first_failure(output) == ("SinkSimulation", "4711", "8")
    assert first_failure(output.replace(" STEPS=8", "")) == ("SinkSimulation", "4711", "")
    assert first_failure(output.replace("SEED=", "")) is None


def test_the_output_of_jazzer_is_read(tmp_path: Path) -> None:
    output = """INFO: Seed: 7
== Java Exception: java.lang.AssertionError: another offset
\tat sparkkinesis.source.checkpoint.OffsetTarget$.fuzzerTestOneInput(OffsetTargets.scala:25)
artifact_prefix='/c/'; Test unit written to /c/fuzz-x/crash-5cc1
stat::number_of_executed_units: 14977
"""
    assert executions(output) == 14977
    assert executions("it did not start") == 0
    assert finding(output).startswith("== Java Exception: java.lang.AssertionError: another")
    assert finding("it did not start") == "it did not start"
    replay = f"Target {tmp_path / 'crash-5cc1'}"
    assert again("Target", output, tmp_path).endswith(f'sparkkinesis.FuzzTargets {replay}"')
    assert again("Target", "it did not start", tmp_path) == ""


def test_a_slope_is_found_and_peaks_are_not() -> None:
    flat = [dict.fromkeys(LIMITS, 50.0 + (n % 3)) for n in range(WARM_UP + JUDGED)]
    flat[-1] = dict.fromkeys(LIMITS, 500.0)
    assert growth(flat) == ""
    growing = [{**it, "threads": it["threads"] + n * 0.5} for n, it in enumerate(flat)]
    assert growth(growing).startswith("threads grows by 0.5")
    assert growth(growing[:-1]) == "", "too few rounds to judge"


def test_percentiles_are_values_that_were_seen() -> None:
    assert percentile([3.0, 1.0, 2.0], 50) == 2.0
    assert percentile([1.0] * 99 + [9.0], 99) == 1.0
    assert percentile([1.0] * 98 + [9.0, 9.0], 99) == 9.0


class Shards:
    """The shards of a stream: two, of which the first is split. Then the parts are merged."""

    def all_shards(self) -> list[dict[str, str]]:
        return [
            {"ShardId": "0"},
            {"ShardId": "1"},
            {"ShardId": "2", "ParentShardId": "0"},
            {"ShardId": "3", "ParentShardId": "0"},
            {"ShardId": "4", "ParentShardId": "2", "AdjacentParentShardId": "3"},
        ]


@pytest.mark.parametrize(
    ("shards", "disordered"),
    [
        ({"0": [1, 3], "2": [4]}, 0),
        ({"0": [3, 1]}, 1),
        ({"0": [1, 3], "2": [2]}, 1),
        ({"0": [1], "3": [2], "2": [3], "4": [4]}, 0),  # no order between the parts of a split
        ({"0": [1, 4], "4": [3]}, 1),  # not read from its parents
        ({"0": [2], "1": [1]}, 0),
    ],
)
def test_a_row_behind_a_later_one_of_its_key_is_found_across_reshards(
    shards: dict[str, list[int]], disordered: int
) -> None:
    target = Target(cast("Stream", Shards()))
    target.rows.update({it: [Written("k", n) for n in ns] for it, ns in shards.items()})
    found = target.verdict([Written("k", n) for ns in shards.values() for n in ns])
    assert found["out of order"] == disordered
    assert found["lost"] == found["twice"] == 0


def test_lost_repeated_and_foreign_rows_are_counted() -> None:
    target = Target(cast("Stream", Shards()))
    target.rows["0"] = [Written("k", n) for n in (1, 1, 9)]
    found = target.verdict([Written("k", 1), Written("k", 2)])
    assert (found["lost"], found["twice"], found["foreign"]) == (1, 1, 1)


def test_a_half_closed_connection_still_carries_the_answer() -> None:
    with (
        socket.create_server(("127.0.0.1", 0)) as server,
        Proxy(f"http://127.0.0.1:{server.getsockname()[1]}").running() as proxy,
        socket.create_connection(("127.0.0.1", urlsplit(proxy.endpoint).port or 0), 60) as client,
    ):
        client.sendall(b"question")
        there, _ = server.accept()
        there.settimeout(60)
        assert there.recv(100) == b"question"
        proxy.half_close()
        assert there.recv(100) == b""
        there.sendall(b"answer")
        assert client.recv(100) == b"answer"
        client.sendall(b"more")  # the proxy has nowhere to write it
        there.close()
        assert client.recv(100) == b""


class NoCopies(Copies):
    """Copies whose program wrote one row of two, and then nothing."""

    def __init__(self, *_: object, **__: object) -> None:
        source = cast("Stream", Shards())
        source.written = [Written("k", 0), Written("k", 1)]
        target = Target(cast("Stream", Shards()))
        target.rows["0"] = [Written("k", 0)]
        target.read = lambda: set(target.rows["0"])  # type: ignore[method-assign]
        self.sources, self.targets = [source] * 2, [target] * 2
        self.happened, self.recoveries = Counter(), defaultdict(list)

    def start(self) -> None:
        """Run nothing."""

    def await_recovery(self, seconds: float = 0) -> None:
        """Find none."""
        raise TimeoutError(f"not within {seconds:.0f} s: new rows")

    def end(self) -> None:
        """End nothing."""

    def close(self) -> None:
        """Delete nothing."""


def test_rows_that_have_not_arrived_in_time_are_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("cluster", "load"):
        monkeypatch.setattr(copies, name, lambda *_, **__: nullcontext())
    monkeypatch.setattr(copies, "Copies", NoCopies)
    outcome = copies.copied(("", "", ""), lambda *_: None, [], 7, tmp_path)
    assert outcome.failure == "not within 0 s: new rows, 2 lost"
    assert outcome.counts["lost"] == 2


LOG = """2026-11-28 17:08:24,629 WARN sparkkinesis.source.Loop: shard 1: KINESIS_UNREACHABLE: no TLS
2026-11-28 17:08:25,100 ERROR org.apache.spark.executor.Executor: Exception in task 0.0
java.lang.NullPointerException
\tat sparkkinesis.source.Loop.run(Loop.scala:7)
2026-11-28 17:08:26,100 WARN org.apache.spark.rpc.Outbox: java.lang.IllegalStateException
\tat org.apache.spark.rpc.Outbox.send(Outbox.scala:7)
2026-11-28 17:08:26,200 WARN sparkkinesis.source.Loop: the call failed: null
2026-11-28 17:08:26,300 WARN sparkkinesis.source.Loop: the call failed: Tag mismatch!
2026-11-28 17:08:26,400 WARN sparkkinesis.source.Loop: TLS failed: Tag mismatch!
"""


def test_a_raw_exception_in_the_log_is_a_failure(tmp_path: Path) -> None:
    (tmp_path / "log").write_text("WARNING: Using incubator modules\n" + LOG)
    executor = tmp_path / "127.0.0.2" / "app-1" / "0"
    executor.mkdir(parents=True)
    (executor / "stderr").write_text(LOG)
    found = networks.judged(Outcome(), logs.entries(tmp_path))
    assert len(found.failure.splitlines()) == 6
    assert found.failure.splitlines()[0].endswith("Executor: Exception in task 0.0")
    assert found.counts["warnings and errors of the connector"] == 10
    assert found.counts["warnings and errors that name TLS"] == 4
    assert found.counts["warnings and errors with a raw exception"] == 6


def test_an_outage_of_sts_must_be_named_with_its_role() -> None:
    without = {networks.EXPIRY: 1}
    assert "STS" in networks.judged(Outcome(dict(without)), ["WARN it failed"]).failure
    told = [f"WARN the call failed: STS returned no credentials for role {networks.ROLE}: reset"]
    assert networks.judged(Outcome(dict(without)), told).failure == ""


def test_tls_notices_what_the_proxy_changes(tmp_path: Path) -> None:
    server = certified(tmp_path)
    client = ssl.create_default_context(cafile=str(tmp_path / "server.pem"))
    with (
        socket.create_server(("127.0.0.1", 0)) as there,
        networks.secure(f"http://127.0.0.1:{there.getsockname()[1]}", server) as proxy,
    ):
        address = ("127.0.0.1", urlsplit(proxy.endpoint).port or 0)
        assert proxy.endpoint.startswith("https:")
        for share in (0.0, 1.0):
            with (
                socket.create_connection(address, 60) as plain,
                client.wrap_socket(plain, server_hostname="127.0.0.1") as secured,
            ):
                secured.sendall(b"question")
                behind, _ = there.accept()
                behind.settimeout(60)
                assert behind.recv(100) == b"question"
                proxy.corrupt_share = share
                behind.sendall(b"answer")
                if share:
                    with pytest.raises(OSError):  # noqa: PT011 an alert or a wrong record
                        secured.recv(100)
                else:
                    assert secured.recv(100) == b"answer"
                behind.close()
        assert proxy.corrupted > 0
