package sparkkinesis.simulator

import java.nio.charset.StandardCharsets.UTF_8

import sparkkinesis.model.{PutEntry, ServiceLimits}

/** What requests must satisfy. */
private[simulator] object Check {
  type Checked = Either[Failure, Unit]

  def that(condition: Boolean)(failure: => Failure): Checked =
    if (condition) Right(()) else Left(failure)

  def range(member: String, value: Int, first: Int, last: Int): Checked =
    that(first <= value && value <= last)(
      Failure.validation(
        s"Value '$value' at '$member' failed to satisfy constraint: Member must be $first to $last"
      )
    )

  def entry(entry: PutEntry, maxRecordBytes: Int): Checked = {
    val characters = entry.partitionKey.codePointCount(0, entry.partitionKey.length)
    for {
      _ <- that(characters >= 1 && characters <= ServiceLimits.PartitionKeyCharacters)(
        Failure.validation(
          s"A value of $characters characters at 'partitionKey' failed to satisfy constraint: " +
            s"Member must have length 1 to ${ServiceLimits.PartitionKeyCharacters}"
        )
      )
      _ <- that(bytes(entry) <= maxRecordBytes)(
        Failure.invalid(
          s"A record of ${bytes(entry)} bytes with its partition key exceeds the stream's limit " +
            s"of $maxRecordBytes."
        )
      )
    } yield ()
  }

  def entries(entries: Seq[PutEntry], maxRecordBytes: Int): Checked =
    for {
      _ <- that(entries.nonEmpty && entries.size <= ServiceLimits.PutRecordsCount)(
        Failure.validation(
          s"A value of ${entries.size} entries at 'records' failed to satisfy constraint: " +
            s"Member must have length 1 to ${ServiceLimits.PutRecordsCount}"
        )
      )
      _ <- entries.foldLeft[Checked](Right(()))((sofar, next) =>
        sofar.flatMap(_ => entry(next, maxRecordBytes))
      )
      size = entries.iterator.map(bytes(_).toLong).sum
      _ <- that(size <= ServiceLimits.PutRecordsBytes)(
        Failure.invalid(
          s"A request of $size bytes exceeds the limit of ${ServiceLimits.PutRecordsBytes}."
        )
      )
    } yield ()

  /** What counts to every limit of size: the data and the partition key. */
  def bytes(entry: PutEntry): Int =
    entry.data.length + entry.partitionKey.getBytes(UTF_8).length
}
