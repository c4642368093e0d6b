package sparkkinesis.spark.write

import sparkkinesis.client.{ConnectionDefaults, StreamAccess, StreamSummary}
import sparkkinesis.sink.SinkOptions
import sparkkinesis.spark.deadletter.DeadLetterFolder
import sparkkinesis.spark.once.OnceSettings

/**
 * The settings of a write's tasks. Travels to executors; prints no secret.
 *
 * @param stream named by the options: the target of all rows. Without it, each row names its stream
 * @param defaults connection of the streams that rows name
 * @param deadLetters folder for bad rows; without it, a bad row fails its task
 * @param executors expected to write at the same time, which share the streams' quotas
 * @param once for exactly once
 * @param isRealTime whether a task may wait for its next row until a long batch ends
 */
private[spark] final case class WriteSettings(
    stream: Option[FixedStream],
    defaults: ConnectionDefaults,
    options: SinkOptions,
    columns: RowRecord,
    deadLetters: Option[DeadLetterFolder],
    executors: Int,
    once: Option[OnceSettings] = None,
    isRealTime: Boolean = false
)

/** @param summary that the driver received from the service */
private[spark] final case class FixedStream(access: StreamAccess, summary: StreamSummary)
