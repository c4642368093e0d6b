package sparkkinesis.simulator

import sparkkinesis.model.{ShardId, StreamArn, StreamName}

/** What uses a limit. */
private[simulator] final case class Metered(
    region: String,
    account: String,
    stream: Option[StreamName] = None,
    shard: Option[ShardId] = None,
    consumer: Option[String] = None
) {

  /** Equal for all that a limit of that scope counts together. */
  def within(scope: Scope): Metered = scope match {
    case Scope.Account => Metered(region, account)
    case Scope.Stream => Metered(region, account, stream)
    case Scope.Shard => Metered(region, account, stream, shard)
    case Scope.Subscription => this
  }

  def isOf(arn: StreamArn): Boolean =
    region == arn.region && account == arn.account && stream.contains(arn.name)

  override def toString: String = {
    val names = shard.map(id => s"shard $id in") ++ stream.map(name => s"stream $name under")
    (names ++ Some(s"account $account")).mkString(" ")
  }
}

private[simulator] object Metered {
  def apply(stream: StreamArn, shard: Option[ShardId]): Metered =
    Metered(stream.region, stream.account, Some(stream.name), shard)

  /** `None` where the operation names nothing of the service. */
  def of(operation: Operation[Any]): Option[Metered] = operation match {
    case ListStreams(region, account, _, _) => Some(Metered(region, account))
    case ListMoreStreams(region, account, _, _) => Some(Metered(region, account))
    case DescribeLimits(region, account) => Some(Metered(region, account))
    case other => other.subject.stream.map(Metered(_, other.subject.shard))
  }
}
