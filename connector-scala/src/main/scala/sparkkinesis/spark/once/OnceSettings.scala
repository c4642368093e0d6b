package sparkkinesis.spark.once

import org.apache.spark.broadcast.Broadcast

import sparkkinesis.sink.once.{OnceTerms, WriterIdentity}

/**
 * What the tasks of an attempt need. Travels to executors.
 *
 * @param endpoint of the driver
 * @param rows sorted hashes of the rows that earlier attempts of the batch wrote, which the tasks
 *   of an executor share; none in a first attempt
 * @param isDone whether every row is in the stream already, so that tasks only count their rows
 * @param isNamed whether it is a batch write with a name, which is compared with later ones by a
 *   sum of its rows
 */
private[spark] final case class OnceSettings(
    endpoint: String,
    query: String,
    batch: Long,
    incarnation: String,
    run: Long,
    rows: Option[Broadcast[Array[Byte]]],
    terms: OnceTerms,
    isDone: Boolean = false,
    isNamed: Boolean = false
) {
  def identity(partition: Int, task: Long): WriterIdentity =
    WriterIdentity(query, batch, incarnation, run, partition, task)
}
