package sparkkinesis.simulator.operation

import java.time.Instant

import sparkkinesis.model.StreamArn
import sparkkinesis.simulator.state.{Check, Encryption, Failure, State}

/**
 * Marks records as encrypted from the time when the stream is active again.
 *
 * @param key any name of a KMS key; it is not looked up
 */
final case class StartStreamEncryption(stream: StreamArn, encryptionType: String, key: String)
    extends Changing[Unit] {
  override def change(state: State, now: Instant): Either[Failure, (State, Unit)] =
    EncryptionOperations.change(state, stream, encryptionType, Some(key), now)
}

/** Records that were encrypted before stay so. */
final case class StopStreamEncryption(stream: StreamArn, encryptionType: String)
    extends Changing[Unit] {
  override def change(state: State, now: Instant): Either[Failure, (State, Unit)] =
    EncryptionOperations.change(state, stream, encryptionType, None, now)
}

private[simulator] object EncryptionOperations {
  def change(
      state: State,
      stream: StreamArn,
      encryptionType: String,
      key: Option[String],
      now: Instant
  ): Either[Failure, (State, Unit)] =
    for {
      found <- state.changeable(stream, now)
      _ <- Check.that(encryptionType == Encryption.Kms)(
        Failure.invalid(s"EncryptionType of stream ${stream.name} must be KMS here.")
      )
    } yield {
      val applied = found.config.encryption.applies(now)
      val next = Encryption(key, state.settings.changed(now), before = applied)
      (state.reconfigured(found, now)(_.copy(encryption = next)), ())
    }
}
