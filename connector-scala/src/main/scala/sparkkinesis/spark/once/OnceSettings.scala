package sparkkinesis.spark.once

import sparkkinesis.sink.once.{OnceTerms, WriterIdentity}

/**
 * What the tasks of an attempt need. Travels to executors.
 *
 * @param endpoint of the driver
 * @param rows hashes of the rows that earlier attempts of the batch wrote
 */
private[spark] final case class OnceSettings(
    endpoint: String,
    query: String,
    batch: Long,
    incarnation: String,
    run: Long,
    rows: Array[Byte],
    terms: OnceTerms
) {
  def identity(partition: Int, task: Long): WriterIdentity =
    WriterIdentity(query, batch, incarnation, run, partition, task)
}
