package sparkkinesis.model

/** The ARN of a stream, such as `arn:aws:kinesis:eu-west-1:123456789012:stream/orders`. */
private[sparkkinesis] final case class StreamArn(
    partition: String,
    region: String,
    account: String,
    name: StreamName
) extends Ordered[StreamArn] {
  private val text = s"arn:$partition:kinesis:$region:$account:stream/$name"

  override def compare(that: StreamArn): Int = if (this eq that) 0 else text.compareTo(that.text)

  /** The text caches its hash code, which is part of the key of every shard. */
  override def hashCode: Int = text.hashCode

  override def toString: String = text
}

private[sparkkinesis] object StreamArn {
  private val Pattern =
    "arn:(aws[a-z-]*):kinesis:([a-z0-9-]+):(\\d{12}):stream/([a-zA-Z0-9_.-]{1,128})".r

  /** `None` if the text is not the ARN of a stream. */
  def parse(text: String): Option[StreamArn] = text match {
    case Pattern(partition, region, account, name) =>
      Some(StreamArn(partition, region, account, StreamName(name)))
    case _ => None
  }
}

/** The name of a stream: 1 to 128 of `a-zA-Z0-9_.-`, unique per account and region. */
private[sparkkinesis] final case class StreamName(name: String) {
  override def toString: String = name
}

private[sparkkinesis] object StreamName {
  def parse(text: String): Option[StreamName] =
    if (text.matches("[a-zA-Z0-9_.-]{1,128}")) Some(StreamName(text)) else None
}

/** A stream as the user named it. */
private[sparkkinesis] sealed trait StreamRef {
  def name: StreamName
}

private[sparkkinesis] object StreamRef {
  final case class ByName(name: StreamName) extends StreamRef {
    override def toString: String = name.toString
  }

  final case class ByArn(arn: StreamArn) extends StreamRef {
    override def name: StreamName = arn.name
    override def toString: String = arn.toString
  }
}
