package sparkkinesis.simulator.state

import java.nio.charset.StandardCharsets.UTF_8

import sparkkinesis.model.{PutEntry, RecordDistribution, ServiceLimits}

/** Checks of requests. */
private[simulator] object Check {
  type Checked = Either[Failure, Unit]

  def that(condition: Boolean)(failure: => Failure): Checked =
    if (condition) Right(()) else Left(failure)

  /** Checks each value, in order, up to the first failure. */
  def all[A](values: Iterable[A])(check: A => Checked): Checked =
    values.foldLeft[Checked](Right(()))((sofar, next) => sofar.flatMap(_ => check(next)))

  /** Checks the length of a text or a collection. */
  def size(member: String, size: Int, first: Int, last: Int): Checked =
    that(first <= size && size <= last)(
      Failure.validation(
        s"A value of length $size at '$member' failed to satisfy constraint: Member must have " +
          s"length $first to $last"
      )
    )

  def range(member: String, value: Int, first: Int, last: Int): Checked =
    that(first <= value && value <= last)(
      Failure.validation(
        s"Value '$value' at '$member' failed to satisfy constraint: Member must be $first to $last"
      )
    )

  def entry(entry: PutEntry, config: StreamConfig): Checked = {
    val characters = entry.partitionKey.codePointCount(0, entry.partitionKey.length)
    val fewest = if (config.distribution == RecordDistribution.Auto) 0 else 1
    for {
      _ <- size("partitionKey", characters, fewest, ServiceLimits.PartitionKeyCharacters)
      _ <- that(bytes(entry) <= config.maxRecordBytes)(
        Failure.invalid(
          s"A record of ${bytes(entry)} bytes with its partition key exceeds the stream's limit " +
            s"of ${config.maxRecordBytes}."
        )
      )
    } yield ()
  }

  def entries(entries: Seq[PutEntry], config: StreamConfig): Checked =
    for {
      _ <- size("records", entries.size, 1, ServiceLimits.PutRecordsCount)
      _ <- all(entries)(entry(_, config))
      total = entries.iterator.map(bytes(_).toLong).sum
      _ <- that(total <= ServiceLimits.PutRecordsBytes)(
        Failure.invalid(
          s"A request of $total bytes exceeds the limit of ${ServiceLimits.PutRecordsBytes}."
        )
      )
    } yield ()

  /** The size that every limit counts: data and partition key. */
  def bytes(entry: PutEntry): Int =
    entry.data.length + entry.partitionKey.getBytes(UTF_8).length
}
