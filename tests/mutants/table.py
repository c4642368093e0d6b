"""One-line faults in the core of source and sink, and the quick test that notices each.

A row breaks one promise. If code moves, move the row with it. If no test named here notices a
fault, the promise has no quick test: write one.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
MAIN = "connector-scala/src/main/scala/sparkkinesis"


@dataclass(frozen=True, kw_only=True)
class Mutant:
    """A fault, and the Scala suite that must turn red with it.

    `file` is below `MAIN` and contains the text `old` exactly once.
    """

    name: str
    promise: str
    file: str
    old: str
    new: str
    suite: str

    @property
    def path(self) -> Path:
        """The mutated file, relative to the root of the repository."""
        return Path(MAIN, self.file)

    def problem(self, root: Path) -> str | None:
        """Why the row does not fit the code below `root`."""
        file = root / self.path
        if not file.is_file():
            return f"{self.path} does not exist"
        count = file.read_text(encoding="utf-8").count(self.old)
        if count != 1:
            return f"{self.path} contains its old text {count} times instead of once"
        if self.suite_file(root) is None:
            return f"no project has the suite {self.suite}"
        return None

    def suite_file(self, root: Path) -> Path | None:
        """The file of the suite, relative to `root`."""
        for project in PROJECTS.values():
            for file in (root / project / "src/test").rglob(f"{self.suite}.scala"):
                return file.relative_to(root)
        return None


PROJECTS = {
    "connector": "connector-scala",
    "simulator": "localstack/simulator",
    "integration": "tests/integration",
}

MUTANTS = [
    # The source, on the driver.
    Mutant(
        name="end-not-repaired",
        promise="With failOnDataLoss=false, a query goes on with shards that it would never read.",
        file="source/query/MicroBatchQuery.scala",
        old="streams.repair(if (isIdle) from else planned(joined, seen.frontiers, limits))",
        new="if (isIdle) from else planned(joined, seen.frontiers, limits)",
        suite="MicroBatchQuerySuite",
    ),
    Mutant(
        name="ends-unsettled",
        promise="A run of AvailableNow does not end before a finding about its shards is settled.",
        file="source/query/MicroBatchQuery.scala",
        old="BatchPlanner.isDone(seen.from, seen.frontiers) && streams.isSettled(seen.from)",
        new="BatchPlanner.isDone(seen.from, seen.frontiers)",
        suite="MicroBatchQuerySuite",
    ),
    Mutant(
        name="removed-stream-read",
        promise="A stream that the query no longer names leaves the offset.",
        file="source/query/MicroBatchQuery.scala",
        old="val from = streams.withoutRemoved(start)",
        new="val from = start",
        suite="MicroBatchQuerySuite",
    ),
    Mutant(
        name="stale-answer",
        promise="An idle query finds its next batch as soon as an executor reports records.",
        file="source/query/MicroBatchQuery.scala",
        old="(from eq other.from) && (frontiers eq other.frontiers)",
        new="(from eq other.from) && frontiers.keySet == other.frontiers.keySet",
        suite="MicroBatchQuerySuite",
    ),
    # The loops: see docs/adr/0030-loops.md.
    Mutant(
        name="available-now-ends-at-once",
        promise="A run of AvailableNow reads all records that had arrived when it started.",
        file="source/query/MicroBatchQuery.scala",
        old="fetch.stopAtMillis.nonEmpty && !isOver(seen)",
        new="fetch.stopAtMillis.isEmpty && !isOver(seen) && false",
        suite="DeliverySimulation",
    ),
    Mutant(
        name="recreated-unnoticed",
        promise="A query does not go on with a stream that was deleted and created again.",
        file="source/query/QueryStreams.scala",
        old="watch.checkStart(known, now)",
        new="watch.advance(known); assert(now != null)",
        suite="QueryStreamsSuite",
    ),
    Mutant(
        name="join-decided-twice",
        promise="A stream that joins begins at one place for the whole run.",
        file="source/query/QueryStreams.scala",
        old="if (!joined.contains(stream)) joined += stream -> answer",
        new="joined += stream -> answer",
        suite="MicroBatchQuerySuite",
    ),
    Mutant(
        name="listing-believed",
        promise="A listing that lags behind causes no failure and no repair.",
        file="source/query/StreamWatch.scala",
        old="if (areGone) verified(listed, now)",
        new="if (areGone || !areGone) verified(listed, now)",
        suite="StreamWatchSuite",
    ),
    Mutant(
        name="repaired-twice",
        promise="A shard that the query would never read is added once.",
        file="source/query/StreamWatch.scala",
        old="start = None // until",
        new="start = start // until",
        suite="StreamWatchSuite",
    ),
    Mutant(
        name="failure-unreported",
        promise="A failure of executors that retries cannot fix ends the query.",
        file="source/query/SourceQuery.scala",
        old="other.orElse(failureOfExecutors).map",
        new="other.map",
        suite="MicroBatchQuerySuite",
    ),
    Mutant(
        name="pages-of-a-batch-dropped",
        promise="Executors keep the pages of a batch until it is done, so that a retry finds them.",
        file="source/query/MicroBatchQuery.scala",
        old="ahead.advance(tipAt(start), tipAt(end))",
        new="ahead.advance(tipAt(end), tipAt(end))",
        suite="MicroBatchQuerySuite",
    ),
    Mutant(
        name="stop-unheard",
        promise="A planned stop ends a real-time batch.",
        file="source/query/RealTimeQuery.scala",
        old="this.isWanted = isWanted || hasMoreSlots(now)",
        new="this.isWanted = isWanted && hasMoreSlots(now)",
        suite="RealTimeSimulation",
    ),
    Mutant(
        name="partial-record-forgotten",
        promise="A real-time query hands out each row of an aggregate once.",
        file="source/query/RealTimeQuery.scala",
        old="ends.flatMap(end => end.partial.map(it => end.shard -> (end.upTo -> it))).toMap",
        new="ends.take(0).flatMap(e => e.partial.map(it => e.shard -> (e.upTo -> it))).toMap",
        suite="RealTimeSimulation",
    ),
    Mutant(
        name="joining-batch-goes-on",
        promise="A stream that joins a real-time query is read soon.",
        file="source/query/RealTimeQuery.scala",
        old="val endsAtOnce = streams.withJoined(from).exists(_ ne from)",
        new="val endsAtOnce = streams.withJoined(from).exists(_ eq from) && false",
        suite="RealTimeSimulation",
    ),
    Mutant(
        name="replaced-page-stays",
        promise="The store has no page that no plan drops.",
        file="source/fetch/FetchLoop.scala",
        old="case None => result.foreach(forget)",
        new="case None => result.filter(_ => false).foreach(forget)",
        suite="FetchLoopSuite",
    ),
    Mutant(
        name="pages-never-dropped",
        promise="Executors drop the pages of a batch when it is done.",
        file="source/fetch/FetchLoop.scala",
        old="plan.processed.foreach { case (shard, progress) => store.dropUpTo(shard, progress) }",
        new="plan.processed.foreach(_ => ())",
        suite="DeliverySimulation",
    ),
    Mutant(
        name="report-lost",
        promise="A driver that answers only some heartbeats receives every report.",
        file="source/fetch/Heartbeats.scala",
        old="takeBack(status.reports)",
        new="Option(status.reports)",
        suite="FetchLoopSuite",
    ),
    Mutant(
        name="replaced-fetcher-rests",
        promise="A result of a fetcher that was replaced changes nothing.",
        file="source/fetch/FetchLoop.scala",
        old="readings.get(fetcher.shard).filter(_.fetcher eq fetcher)",
        new="readings.get(fetcher.shard)",
        suite="FetchLoopSuite",
    ),
    Mutant(
        name="waits-for-ever",
        promise="A shard that waits for room is asked again.",
        file="source/fetch/FetchLoop.scala",
        old="if (waiting.nonEmpty && !now.steady.isBefore(wakeAllAt)) {",
        new="if (waiting.isEmpty && !now.steady.isBefore(wakeAllAt)) {",
        suite="FetchLoopSuite",
    ),
    Mutant(
        name="record-in-time-omitted",
        promise="A run with a stop time omits no record that had arrived by then, even after one "
        "that arrived later.",
        file="shard/feed/ReadGoal.scala",
        old="stopAtMillis.map(ArrivalTimes.lastDoubt)",
        new="stopAtMillis.map(ArrivalTimes.lastDoubt(_) - ArrivalTimes.Margin.toMillis)",
        suite="ShardFetcherSuite",
    ),
    Mutant(
        name="latest-not-stored",
        promise="A query from latest that restarts before its first batch begins where it began.",
        file="spark/read/KinesisMicroBatchStream.scala",
        old="file.readOrWrite(SourceOffset.of(named.map(_.firstOffset())))",
        new="Option(file).map(_ => SourceOffset.of(named.map(_.firstOffset()))).get",
        suite="FirstOffsetSuite",
    ),
    Mutant(
        name="pages-kept",
        promise="Executors drop the pages of a batch when it is done.",
        file="source/query/MicroBatchQuery.scala",
        old="batch.foreach(it => readFrom(it.end))",
        new="batch.foreach(_ => ())",
        suite="MicroBatchQuerySuite",
    ),
    Mutant(
        name="no-read-again",
        promise="A task reads from Kinesis what its executor does not hold.",
        file="source/replay/TaskPages.scala",
        old="case None => fromKinesis(range)",
        new="case None => Iterator.empty",
        suite="SparkBatchReadSuite",
    ),
    Mutant(
        name="child-before-parent",
        promise="A child shard is read after all its parents.",
        file="source/plan/BatchPlanner.scala",
        old="ShardProgress(Progress.TrimHorizon, child.parents.toSet)",
        new="ShardProgress(Progress.TrimHorizon, Set.empty)",
        suite="BatchPlannerSuite",
    ),
    Mutant(
        name="report-counted-twice",
        promise="A report that arrives twice adds its pages once.",
        file="source/plan/ReadAhead.scala",
        old="case Some(shard) if report.from == shard.tip =>",
        new="case Some(shard) if report.from == shard.tip || "
        "ReadingShards.isKnown(report, shard.tip) =>",
        suite="ReadAheadSuite",
    ),
    Mutant(
        name="former-reader-believed",
        promise="The driver ignores reports of an assignment that it has ended.",
        file="source/plan/ReadAhead.scala",
        old="executor.contains(other) && generation == since",
        new="executor.contains(other) && generation >= since",
        suite="ReadAheadSuite",
    ),
    Mutant(
        name="waiting-parents-not-stored",
        promise="The checkpoint has the parents that a shard waits for.",
        file="source/checkpoint/OffsetCodec.scala",
        old="val waiting = offset.shards.filter(_._2.waitsFor.nonEmpty)",
        new="val waiting = offset.shards.filter(_._2.waitsFor.size > 1)",
        suite="OffsetCodecSuite",
    ),
    # The source, on executors.
    Mutant(
        name="tip-before-the-end",
        promise="A run with a stop time does not end after a page with records: the next page may "
        "be the end of its shard.",
        file="source/fetch/ShardFetcher.scala",
        old="filterNot(_ == 0 && mayEnd).getOrElse(1)",
        new="filterNot(_ == 1 && mayEnd).getOrElse(1)",
        suite="ShardFetcherSuite",
    ),
    Mutant(
        name="tip-unproven",
        promise="An executor reports the tip of a shard only after Kinesis has.",
        file="source/fetch/ShardFetcher.scala",
        old="filterNot(_ == 0 && mayEnd).getOrElse(1)",
        new="filterNot(_ == 0 && mayEnd).getOrElse(0)",
        suite="ShardFetcherSuite",
    ),
    Mutant(
        name="end-without-children",
        promise="One answer without an iterator and without children does not end a shard.",
        file="shard/feed/ShardReader.scala",
        old="if (page.children.nonEmpty) ended(",
        new="if (page.children.nonEmpty || page.records.isEmpty) ended(",
        suite="ShardFetcherSuite",
    ),
    Mutant(
        name="stop-time-ends-shard",
        promise="A shard of which the stop time leaves records to the next run has not ended.",
        file="shard/feed/ShardReader.scala",
        old="val isEnd = children.nonEmpty && !reached",
        new="val isEnd = children.nonEmpty",
        suite="ShardFetcherSuite",
    ),
    Mutant(
        name="retention-not-checked",
        promise="A reader that is behind the retention period does not pass over lost records.",
        file="shard/feed/ReadLosses.scala",
        old="(age + Margin).toMillis",
        new="(age * 2L + Margin).toMillis",
        suite="ReadLossesSuite",
    ),
    Mutant(
        name="iterator-from-the-start",
        promise="After its iterator expires, a reader continues where it was.",
        file="shard/feed/PolledPages.scala",
        old="client.shardIterator(ref, shard, position)",
        new="client.shardIterator(ref, shard, Position.TrimHorizon)",
        suite="ShardFetcherSuite",
    ),
    Mutant(
        name="page-dropped-by-reading",
        promise="A task that runs again finds the pages that it has read.",
        file="source/store/PageStore.scala",
        old="val all = pagesOf(range.shard)",
        new="val all = try pagesOf(range.shard)\n    finally dropUpTo(range.shard, range.upTo)",
        suite="PageStoreSuite",
    ),
    Mutant(
        name="last-record-of-range-lost",
        promise="A range contains the record that it ends with.",
        file="shard/feed/ReadGoal.scala",
        old="all.compareNumber(index, last) <= 0",
        new="all.compareNumber(index, last) < 0",
        suite="ShardRangeReaderSuite",
    ),
    Mutant(
        name="numbers-compared-as-text",
        promise="Sequence numbers are compared as integers.",
        file="model/SequenceNumber.scala",
        old="val byLength = Integer.compare(own.length, other.length)",
        new="val byLength = 0",
        suite="SequenceNumberSuite",
    ),
    Mutant(
        name="aggregate-cut",
        promise="All records of an aggregated record become rows.",
        file="model/aggregate/AggregateReader.scala",
        old="expanded(message) <= most)) count else",
        new="expanded(message) <= most)) count - 1 else",
        suite="AggregateReaderSuite",
    ),
    # Arrival times: see docs/adr/0028-arrival-times.md.
    Mutant(
        name="stop-not-awaited",
        promise="A run with a stop time reads when the records that had arrived are visible.",
        file="model/ArrivalTimes.scala",
        old="(lastDoubt(by) - now).max(0L).millis",
        new="((lastDoubt(by) - now) / 2).max(0L).millis",
        suite="QueryStreamSuite",
    ),
    Mutant(
        name="stopped-shard-waited-for",
        promise="A shard that was read up to the stop time holds no other shard back.",
        file="shard/feed/ShardReader.scala",
        old="if (reached) goal.completeAsOf\n      else if (isTip)",
        new="if (isTip)",
        suite="ShardFetcherSuite",
    ),
    Mutant(
        name="tip-by-repeated-event",
        promise="An event of enhanced fan-out that comes twice does not prove the tip.",
        file="shard/feed/ShardReader.scala",
        old="if (before == records.size) None else sent.millisBehindLatest",
        new="sent.millisBehindLatest",
        suite="ShardFetcherSuite",
    ),
    Mutant(
        name="range-begins-at-its-time",
        promise="A batch read from a time begins to read a second before it.",
        file="source/replay/BatchReadPlanner.scala",
        old="since.minusMillis(ArrivalTimes.Margin.toMillis)",
        new="since.minusMillis(ArrivalTimes.Margin.toMillis / 2)",
        suite="BatchReadPlannerSuite",
    ),
    Mutant(
        name="range-ends-at-its-time",
        promise="A batch read up to a time reads on for a second.",
        file="shard/feed/ReadGoal.scala",
        old="all.arrivalMillis(index) < ArrivalTimes.lastDoubt(end.millis)",
        new="all.arrivalMillis(index) < end.millis",
        suite="BatchReadSimulation",
    ),
    Mutant(
        name="loss-by-one-answer",
        promise="One answer without a record is no loss.",
        file="shard/feed/ShardReader.scala",
        old="if (missing.nonEmpty && !lacked) {",
        new="if (missing.nonEmpty && lacked && false) {",
        suite="ShardRangeReaderSuite",
    ),
    Mutant(
        name="page-taken-unjudged",
        promise="A page that cannot be judged yet is not passed over.",
        file="shard/feed/PolledPages.scala",
        old="following = page.next",
        new="following = page.next\n        iterator = following",
        suite="ShardFetcherSuite",
    ),
    Mutant(
        name="skew-without-margin",
        promise="`maxShardSkew` holds although arrival times fall.",
        file="source/plan/ShardSkew.scala",
        old="(skew - ArrivalTimes.Margin).max(Duration.Zero)",
        new="(skew - ArrivalTimes.Margin * 0).max(Duration.Zero)",
        suite="ShardSkewSuite",
    ),
    Mutant(
        name="read-back-expects-its-marker-at-once",
        promise="A read-back waits for its marker, which may be visible late.",
        file="sink/once/ReadBack.scala",
        old="mayAppear = marker.nonEmpty",
        new="mayAppear = false",
        suite="ReadBackSuite",
    ),
    # The sink.
    Mutant(
        name="rows-without-a-key-stay",
        promise="Rows without a key do not wait for a hot shard.",
        file="sink/lane/LaneSet.scala",
        old="waiting.backlogMillis / lanes.size + Lead",
        new="waiting.backlogMillis + Lead * 1000",
        suite="StreamWriterSuite",
    ),
    Mutant(
        name="acknowledged-before-the-answer",
        promise="A record counts as written when Kinesis has answered, and not when it is sent.",
        file="sink/write/StreamWriter.scala",
        old="counters.requestSent(it.records.length)",
        new="counters.requestSent(it.records.length)\n"
        "      it.records.foreach(it => counters.recordsWritten(it.userRecords.toLong, "
        "it.bufferedBytes))",
        suite="RecordWriterSuite",
    ),
    Mutant(
        name="failed-record-dropped",
        promise="A record that Kinesis did not accept in a partial answer is sent again.",
        file="sink/write/PutAnswers.scala",
        old="failed += record\n",
        new="if (isThrottled) failed += record else acknowledged(record)\n",
        suite="RecordWriterSuite",
    ),
    Mutant(
        name="two-requests-of-a-lane",
        promise="With order, a shard has at most one request in flight.",
        file="sink/lane/Lane.scala",
        old="if (isOrdered && inFlight > 0) Lane.Never",
        new="if (isOrdered && inFlight > 1) Lane.Never",
        suite="StreamWriterOrderSuite",
    ),
    Mutant(
        name="request-too-large",
        promise="A request keeps the limit of bytes.",
        file="sink/lane/RequestRecords.scala",
        old="bytes + record.size <= limits.bytes",
        new="bytes + record.size / 2 <= limits.bytes",
        suite="StreamWriterSuite",
    ),
    Mutant(
        name="rate-not-reduced",
        promise="A shard that throttles receives less.",
        file="sink/rate/ShardRate.scala",
        old="if (throttled.records > 0) refused(written, throttled, sentAt, now)",
        new="if (throttled.records > 100000) refused(written, throttled, sentAt, now)",
        suite="ShardRateSuite",
    ),
    # The sink, exactly once.
    Mutant(
        name="shard-blamed-for-the-limit-of-requests",
        promise="Time for which too many requests are in flight is no wait for a shard.",
        file="sink/lane/WaitingLanes.scala",
        old="block(lane, until, arrivedBy, now) else lane.endSleep(now)",
        new="block(lane, until, arrivedBy, now)",
        suite="StreamWriterSuite",
    ),
    Mutant(
        name="small-request-proves-a-large-one",
        promise="After HTTP 413, only answers to large requests make requests larger.",
        file="sink/rate/RequestCapacity.scala",
        old="fullness * divisor >= LargePart",
        new="fullness >= 0 * LargePart",
        suite="RequestSizeSuite",
    ),
    Mutant(
        name="row-overtakes-a-doubt",
        promise="With order, no row overtakes one in doubt, also if the shard of both is split.",
        file="sink/lane/RecordsInDoubt.scala",
        old="if (lanes.contains(it.part.lane)) Nil else",
        new="if (lanes.contains(it.part.lane) || it.part.records.nonEmpty) Nil else",
        suite="StreamWriterOnceSuite",
    ),
    Mutant(
        name="sent-again-in-doubt",
        promise="With exactly once, a record in doubt is looked up before it is sent again.",
        file="sink/write/PutAnswers.scala",
        old="inDoubt.filter(_ => part.records.exists(part.isUnknown))",
        new="inDoubt.filter(_ => part.records.isEmpty)",
        suite="StreamWriterOnceSuite",
    ),
    Mutant(
        name="read-back-skipped",
        promise="A batch that runs again reads back what its earlier run has written.",
        file="sink/once/DriverLoop.scala",
        old="Option.when(batch.run == 0)",
        new="Option.when(batch.run <= 1)",
        suite="DriverLoopSuite",
    ),
    Mutant(
        name="run-not-counted",
        promise="Each run of a batch has a number of its own.",
        file="spark/once/AttemptLog.scala",
        old="run = it.run + 1",
        new="run = it.run",
        suite="AttemptLogSuite",
    ),
    Mutant(
        name="marker-elsewhere",
        promise="A read-back has a marker in each open shard.",
        file="sink/once/ReadBack.scala",
        old="PutResult.Written(there, number)) if there == shard.id =>",
        new="PutResult.Written(there, number)) if there.name.nonEmpty =>",
        suite="ReadBackSuite",
    ),
    Mutant(
        name="successor-too-early",
        promise="A later attempt waits until requests of the earlier one can have no effect.",
        file="sink/once/DriverLoop.scala",
        old="partition.heldUntil + terms.acceptance.toMillis",
        new="partition.heldUntil",
        suite="DriverLoopSuite",
    ),
    Mutant(
        name="other-rows-accepted",
        promise="A batch fails if it lacks rows that an earlier run wrote.",
        file="sink/once/DriverLoop.scala",
        old="if (missing > 0) throw",
        new="if (missing > 1) throw",
        suite="DriverLoopSuite",
    ),
    Mutant(
        name="child-begins-late",
        promise="A look reads a shard that came from one in doubt from the time of the doubt.",
        file="sink/once/ReadBack.scala",
        old="flatten.filterNot(_ => isChild)",
        new="flatten.filterNot(_ => isChild && false)",
        suite="ReadBackSuite",
    ),
    Mutant(
        name="other-holder-served",
        promise="A read-back serves no attempt that waits for another one than it was for.",
        file="sink/once/DriverLoop.scala",
        old="if it.holder == holder)",
        new="if holder >= 0)",
        suite="DriverLoopSuite",
    ),
    Mutant(
        name="doubt-without-children",
        promise="A look for a record in doubt also reads the shards that came from its shard.",
        file="sink/once/ReadBack.scala",
        old="if (more == found) found else withChildren(more)",
        new="if (more == found) found else if (found.isEmpty) withChildren(found) else found",
        suite="ReadBackSuite",
    ),
    Mutant(
        name="rows-of-this-run-written-twice",
        promise="A task that runs again skips the rows that its earlier attempt wrote.",
        file="sink/once/EarlierRows.scala",
        old="inRun.take(hash) || takeOfBatch(hash)",
        new="takeOfBatch(hash)",
        suite="EarlierRowsSuite",
    ),
    # The sink's adapters to Spark.
    Mutant(
        name="commit-before-flush",
        promise="A task commits after Kinesis has acknowledged all its rows.",
        file="spark/write/KinesisDataWriter.scala",
        old="protected def finish(): Unit = flush()",
        new="protected def finish(): Unit = ()",
        suite="KinesisWriteSuite",
    ),
    Mutant(
        name="dead-letter-not-published",
        promise="The dead letters of a task that commits reach the dead-letter path.",
        file="spark/write/KinesisDataWriter.scala",
        old="DeadLetterCommit.message(deadLetters.flatMap(_.commit()))",
        new="DeadLetterCommit.message(deadLetters.flatMap(_.commit()).filter(_.isEmpty))",
        suite="KinesisWriteSuite",
    ),
    Mutant(
        name="batch-not-checked",
        promise="A batch write commits only if it contains all rows that its earlier runs wrote.",
        file="spark/write/KinesisWrite.scala",
        old="    once.foreach(_.check())\n    // A run of a write that is done",
        new="    // A run of a write that is done",
        suite="SparkOnceSuite",
    ),
    Mutant(
        name="rows-not-sorted",
        promise="With orderBy, the rows of a key are written in that order.",
        file="spark/write/OrderedWrite.scala",
        old="order.by.map(name =>",
        new="order.by.filter(_.isEmpty).map(name =>",
        suite="SparkOrderSuite",
    ),
]
