package sparkkinesis.source.options

import java.time.Instant

import scala.concurrent.duration._

import sparkkinesis.client.StreamAccess
import sparkkinesis.model.Shard
import sparkkinesis.source.position.PositionCheck

/**
 * Finds positions that cannot be right when the `DataFrame` is defined.
 *
 * @param now by this machine's clock, which may differ from the service's by a minute
 */
private[sparkkinesis] final class DefinitionCheck(options: SourceOptions, now: Instant) {
  private val latest = now.plusMillis(1.minute.toMillis)

  /**
   * @param list called once for each stream of which the positions name shards
   * @throws OptionException with the reason
   */
  def check(list: StreamAccess => Seq[Shard]): Unit = options.streams.foreach { stream =>
    val (start, end) = (options.start.map(_(stream.ref)), options.end.map(_(stream.ref)))
    val ends = end.map(PositionCheck.end(stream.ref, _))
    val checks: Seq[PositionCheck] = start.map(PositionCheck.start(stream.ref, _)).toSeq ++ ends
    val invalid =
      checks.flatMap(_.future(latest)) ++ start.flatMap(it => ends.flatMap(_.before(it)))
    invalid.foreach(it => throw it.atDefinition)
    if ((start.toSeq ++ end).exists(_.named.nonEmpty)) {
      val listed = list(stream)
      checks
        .flatMap(it => it.unlisted(listed, mayHaveExpired = true).orElse(it.foreignNumber(listed)))
        .foreach(it => throw it.atDefinition)
    }
  }
}
