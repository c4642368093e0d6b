package sparkkinesis.model.aggregate

import java.nio.charset.StandardCharsets.UTF_8
import java.util.PriorityQueue

/**
 * The tags of the aggregates of one writer. The first record of each aggregate has one: a number
 * that no other aggregate of the writer has, after a text that is the same for all. The numbers
 * have no gaps. Consumers that deaggregate ignore tags.
 *
 * @param text without spaces at its ends; ASCII
 */
private[sparkkinesis] final class AggregateTags(text: String) {
  import AggregateTags._

  private var made = 0L
  private val free = new PriorityQueue[Long]

  /** The field of a tag without a number. */
  private[aggregate] val blank: Array[Byte] = encoded(0)

  /** Number of bytes that a tag takes in its record. */
  def length: Int = blank.length

  /** The field of the next tag. All have the same length. */
  private[aggregate] def next(): Array[Byte] = encoded {
    if (free.isEmpty) {
      made += 1
      made
    } else free.poll()
  }

  /** The aggregate is not in the stream and is not sent again, so another one gets its number. */
  def giveBack(aggregate: Array[Byte]): Unit =
    tagOf(aggregate, 0, aggregate.length).foreach { case (_, number) => free.add(number) }

  private def encoded(number: Long): Array[Byte] = {
    val tag = new ProtobufWriter
    tag.varint(KeyTag)
    tag.span(Key)
    tag.varint(ValueTag)
    tag.span(f"$text $number%012d".getBytes(UTF_8))
    val field = new ProtobufWriter
    field.varint(TagTag)
    field.span(tag.toArray)
    field.toArray
  }
}

private[sparkkinesis] object AggregateTags {
  import AggregateReader._

  private val Key = "spark-kinesis".getBytes(UTF_8)
  private val Numbered = "(.*) ([0-9]{12,18})".r

  private final val TagTag = 0x22
  private final val KeyTag = 0x0a
  private final val ValueTag = 0x12

  /** The text in the tag of an aggregate, without the number. `None` if it has no such tag. */
  def textOf(data: Array[Byte]): Option[String] = tagOf(data, 0, data.length).map(_._1)

  /** The text and the number in the tag of an aggregate. `None` if it has no such tag. */
  def tagOf(data: Array[Byte], begin: Int, length: Int): Option[(String, Long)] =
    if (!isMarked(data, begin, length)) None
    else
      try {
        val (first, end) = (begin + MarkBytes, begin + length - DigestBytes)
        for {
          record <- span(data, first, end, RecordTag)
          tag <- span(data, record.begin, record.end, TagTag)
          key <- span(data, tag.begin, tag.end, KeyTag)
          if text(data, key) == new String(Key, UTF_8)
          value <- span(data, tag.begin, tag.end, ValueTag)
          Numbered(words, number) <- Some(text(data, value))
        } yield (words, number.toLong)
      } catch { case ProtobufReader.Malformed => None }

  private def text(data: Array[Byte], span: ProtobufReader) =
    new String(data, span.begin, span.end - span.begin, UTF_8)

  /** The first field with this tag. */
  private def span(
      data: Array[Byte],
      begin: Int,
      end: Int,
      tag: Int
  ): Option[ProtobufReader] = {
    val fields = new ProtobufReader
    fields.open(data, begin, end)
    var isFound = false
    while (!isFound && fields.next())
      if (fields.tag == tag) {
        fields.span()
        isFound = true
      } else fields.skip()
    if (isFound) Some(fields) else None
  }
}
