package sparkkinesis.sink.simulation

import java.nio.charset.StandardCharsets.UTF_8
import java.util.Arrays

import sparkkinesis.model.aggregate.AggregateReader
import sparkkinesis.model.{HashKey, PutEntry}

/**
 * The identity of a row, wherever it is found.
 *
 * @param attempt of the task that wrote it. Each attempt writes all rows of the task
 * @param key one of the task's keys
 * @param number of the row among those of its key, from 0
 */
final case class Row(task: Int, attempt: Int, key: Int, number: Int) {
  def partitionKey: String = s"task-$task-key-$key"

  /** @param size of the data, at least as long as the text in it */
  def entry(size: Int, hashKey: Option[HashKey]): PutEntry = {
    val text = s"$task/$attempt/$key/$number".getBytes(UTF_8)
    PutEntry(partitionKey, Arrays.copyOf(text, math.max(size, text.length)), hashKey)
  }
}

object Row {

  /** The row in an entry or a record; `None` if no task wrote it. */
  def parse(partitionKey: String, data: Array[Byte], begin: Int, length: Int): Option[Row] = {
    val text = new String(data, begin, math.min(length, 40), UTF_8).trim
    text.split('/').map(_.toIntOption) match {
      case Array(Some(task), Some(attempt), Some(key), Some(number)) =>
        Some(Row(task, attempt, key, number)).filter(_.partitionKey == partitionKey)
      case _ => None
    }
  }
}

/** A row and the hash key that determines its shard. */
final case class FoundRow(row: Row, hashKey: HashKey)

/** Takes Kinesis records apart as our source does. */
object FoundRow {
  def of(partitionKey: String, data: Array[Byte], hashKey: Option[HashKey]): Vector[FoundRow] = {
    val aggregate = new AggregateReader
    val count = aggregate.open(data, 0, data.length)
    if (count == 0) Vector(found(partitionKey, data, 0, data.length, hashKey))
    else
      Vector.fill(count) {
        aggregate.next()
        def text(begin: Int, length: Int) = new String(data, begin, length, UTF_8)
        val own =
          if (!aggregate.hasHashKey) None
          else HashKey.parse(text(aggregate.hashKeyBegin, aggregate.hashKeyLength))
        found(
          text(aggregate.partitionKeyBegin, aggregate.partitionKeyLength),
          data,
          aggregate.dataBegin,
          aggregate.dataLength,
          own
        )
      }
  }

  private def found(
      partitionKey: String,
      data: Array[Byte],
      begin: Int,
      length: Int,
      hashKey: Option[HashKey]
  ) = {
    val row = Row.parse(partitionKey, data, begin, length)
    require(row.nonEmpty, s"foreign: a record of $partitionKey that no task wrote")
    FoundRow(row.get, hashKey.getOrElse(HashKey.of(partitionKey)))
  }
}
