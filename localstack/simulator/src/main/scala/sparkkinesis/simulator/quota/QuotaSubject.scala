package sparkkinesis.simulator.quota

import sparkkinesis.model.{ShardId, StreamArn, StreamName}
import sparkkinesis.simulator.fanout.SubscribeToShard
import sparkkinesis.simulator.listing.{DescribeLimits, ListMoreStreams, ListStreams}
import sparkkinesis.simulator.operation.Operation

/** What a limit counts for: an account, a stream, a shard, or a consumer's shard. */
private[simulator] final case class QuotaSubject(
    region: String,
    account: String,
    stream: Option[StreamName] = None,
    shard: Option[ShardId] = None,
    consumer: Option[String] = None
) {

  /** The subject as a limit of that scope sees it. */
  def within(scope: Scope): QuotaSubject = scope match {
    case Scope.Account => QuotaSubject(region, account)
    case Scope.Stream => QuotaSubject(region, account, stream)
    case Scope.Shard => QuotaSubject(region, account, stream, shard)
    case Scope.Subscription => this
  }

  def isOf(arn: StreamArn): Boolean =
    region == arn.region && account == arn.account && stream.contains(arn.name)

  override def toString: String = {
    val names = shard.map(id => s"shard $id in") ++ stream.map(name => s"stream $name under")
    (names ++ Some(s"account $account")).mkString(" ")
  }
}

private[simulator] object QuotaSubject {
  def apply(stream: StreamArn, shard: Option[ShardId]): QuotaSubject =
    QuotaSubject(stream.region, stream.account, Some(stream.name), shard)

  /** `None` if the operation names neither stream nor account. */
  def of(operation: Operation[Any]): Option[QuotaSubject] = operation match {
    case ListStreams(region, account, _, _) => Some(QuotaSubject(region, account))
    case ListMoreStreams(region, account, _, _) => Some(QuotaSubject(region, account))
    case DescribeLimits(region, account) => Some(QuotaSubject(region, account))
    case SubscribeToShard(consumer, shard, _) =>
      Some(QuotaSubject(consumer.stream, Some(shard)).copy(consumer = Some(consumer.toString)))
    case other => other.subject.stream.map(QuotaSubject(_, other.subject.shard))
  }
}
