package sparkkinesis.simulator.service

import java.nio.charset.StandardCharsets.UTF_8
import java.util.concurrent.ConcurrentHashMap
import java.util.concurrent.atomic.LongAdder

import scala.jdk.CollectionConverters._

import sparkkinesis.client.{Page, PutResult}
import sparkkinesis.model.{PutEntry, Record}
import sparkkinesis.simulator.operation.{Operation, PutAnswer, PutRecord, PutRecords}
import sparkkinesis.simulator.record.RecordLog
import sparkkinesis.simulator.state.Failure

/**
 * Counts calls and their results, over HTTP and in memory. A call counts when it runs, even if its
 * response is lost. A request that names no operation does not count.
 */
final class CallStatistics {
  private val calls = new ConcurrentHashMap[String, LongAdder]
  private val refused = new ConcurrentHashMap[(String, String), LongAdder]
  private val recordsPut = new LongAdder
  private val bytesPut = new LongAdder
  private val recordsRead = new LongAdder
  private val bytesRead = new LongAdder
  private val entriesFailed = new LongAdder

  private[simulator] def count(operation: Operation[Any], answer: Either[Failure, Any]): Unit = {
    add(calls, operation.name)
    (operation, answer) match {
      case (_, Left(Failure.Refused(code, _))) => add(refused, operation.name -> code.name)
      case (PutRecord(_, entry), Right(_)) => written(entry)
      case (PutRecords(_, entries), Right(PutAnswer(results: Seq[_], _))) =>
        entries.iterator.zip(results).foreach {
          case (_, _: PutResult.Failed) => entriesFailed.increment()
          case (entry, _) => written(entry)
        }
      case (_, Right(page: Page)) => read(page.records)
      case _ => ()
    }
  }

  /** Counts records that were sent to a reader, even if the response was lost. */
  private[simulator] def read(records: IndexedSeq[Record]): Unit = {
    recordsRead.add(records.size.toLong)
    bytesRead.add(RecordLog.bytes(records))
  }

  def snapshot: CallCounts = CallCounts(
    calls.asScala.map { case (operation, count) => operation -> count.sum }.toMap,
    refused.asScala.toSeq.groupMap(_._1._1) { case ((_, code), count) => code -> count.sum }.map {
      case (operation, codes) => operation -> codes.toMap
    },
    recordsPut.sum,
    bytesPut.sum,
    recordsRead.sum,
    bytesRead.sum,
    entriesFailed.sum
  )

  /** Sets all counts to zero. A call that runs at the same time may count in part. */
  def reset(): Unit = {
    calls.clear()
    refused.clear()
    Seq(recordsPut, bytesPut, recordsRead, bytesRead, entriesFailed).foreach(_.reset())
  }

  private def add[K](counts: ConcurrentHashMap[K, LongAdder], key: K): Unit =
    counts.computeIfAbsent(key, _ => new LongAdder).increment()

  private def written(entry: PutEntry): Unit = {
    recordsPut.increment()
    bytesPut.add(entry.data.length.toLong + keyBytes(entry.partitionKey))
  }

  private def keyBytes(key: String): Int = key.getBytes(UTF_8).length
}

/**
 * @param calls number of calls, by operation
 * @param refused number of refused calls, by operation and error code, including injected faults
 * @param recordsPut number of records written
 * @param bytesPut bytes of their data and partition keys, as the service meters them
 * @param recordsRead number of records in responses
 * @param bytesRead their bytes, as in `bytesPut`
 * @param entriesFailed number of failed entries in accepted `PutRecords` requests
 */
final case class CallCounts(
    calls: Map[String, Long],
    refused: Map[String, Map[String, Long]],
    recordsPut: Long,
    bytesPut: Long,
    recordsRead: Long,
    bytesRead: Long,
    entriesFailed: Long
)
