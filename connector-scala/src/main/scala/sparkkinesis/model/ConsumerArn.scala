package sparkkinesis.model

/**
 * The ARN of a consumer of enhanced fan-out, for example
 * `arn:aws:kinesis:eu-west-1:123456789012:stream/orders/consumer/me:1700000000`.
 *
 * @param createdSecond seconds since 1970, which distinguish consumers that were registered under
 *   one name
 */
private[sparkkinesis] final case class ConsumerArn(
    stream: StreamArn,
    name: String,
    createdSecond: Long
) {
  override def toString: String = s"$stream/consumer/$name:$createdSecond"
}

private[sparkkinesis] object ConsumerArn {
  private val Name = "[a-zA-Z0-9_.-]{1,128}"
  private val Pattern = s"(.+)/consumer/($Name):(\\d{1,12})".r

  /** `None` if the text is not a consumer's ARN. */
  def parse(text: String): Option[ConsumerArn] = text match {
    case Pattern(stream, name, second) =>
      StreamArn.parse(stream).map(ConsumerArn(_, name, second.toLong))
    case _ => None
  }

  /** Whether a consumer can have this name. */
  def isName(text: String): Boolean = text.matches(Name)
}
