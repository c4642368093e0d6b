package sparkkinesis.simulator.operation

import java.time.Instant

import sparkkinesis.model.StreamArn
import sparkkinesis.simulator.state.{Check, Failure, State}

/** @param kibibytes 1,024 to 10,240 for a record with its partition key */
final case class UpdateMaxRecordSize(stream: StreamArn, kibibytes: Int) extends Changing[Unit] {
  override def change(state: State, now: Instant): Either[Failure, (State, Unit)] =
    for {
      _ <- RecordSize.check(kibibytes)
      found <- state.changeable(stream, now)
    } yield {
      val bytes = RecordSize.bytes(kibibytes)
      (state.reconfigured(found, now)(_.copy(maxRecordBytes = bytes)), ())
    }
}

private[simulator] object RecordSize {

  /** Smallest limit of a stream's records in bytes, also for a new stream. */
  val Smallest = 1024

  private val Greatest = 10240

  def check(kibibytes: Int): Check.Checked =
    Check.range("maxRecordSizeInKiB", kibibytes, Smallest, Greatest)

  def bytes(kibibytes: Int): Int = kibibytes * 1024
}
