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
 * What callers asked for, by whichever face, and what they got. Calls count when they happen, also
 * where their answers get lost; requests that are no operation count nowhere.
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

  /** Records that reached, or should have reached, a reader. */
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

  /** Begins again from nothing. A call that happens meanwhile may count in part. */
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
 * @param calls by operation
 * @param refused by operation and error code; also the faults' refusals
 * @param recordsPut that were written
 * @param bytesPut of their data and partition keys, as the service meters them
 * @param recordsRead in answers
 * @param bytesRead as `bytesPut`
 * @param entriesFailed of `PutRecords` requests that were not refused as a whole
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
