package sparkkinesis.client.aws.wire

import java.nio.charset.StandardCharsets.UTF_8

import sparkkinesis.client.ShardEvent
import sparkkinesis.compat._
import sparkkinesis.model._

/**
 * Decodes the events of a subscription, which are in JSON, without creating an object per record.
 * The SDK's decoding takes most of the time of reading them.
 */
private[aws] object EventDecoder {

  /** The event, which refers to the bytes of its message. `None` if it is malformed. */
  def decode(message: EventMessage): Option[ShardEvent] = {
    val event = new Event(message)
    Option.when(event.read())(event.result)
  }

  /** The message of an exception. `None` if it has none. */
  def reason(message: EventMessage): Option[String] = {
    val refusal = new Refusal(message)
    if (refusal.read()) refusal.text else None
  }

  private def reader(of: EventMessage) =
    new JsonReader(of.bytes, of.payloadBegin, of.payloadEnd)

  private val Continuation = "ContinuationSequenceNumber".getBytes(UTF_8)
  private val Id = "ShardId".getBytes(UTF_8)
  private val Parents = "ParentShards".getBytes(UTF_8)
  private val HashKeys = "HashKeyRange".getBytes(UTF_8)
  private val First = "StartingHashKey".getBytes(UTF_8)
  private val Last = "EndingHashKey".getBytes(UTF_8)
  private val Reasons = Seq("message", "Message").map(_.getBytes(UTF_8))

  private final class Event(of: EventMessage) extends RecordsReader(of.bytes, reader(of)) {
    private var continuation = Option.empty[SequenceNumber]
    private var children = Vector.empty[ChildShard]

    def result: ShardEvent = ShardEvent(records, continuation, millisBehind, children)

    override protected def readOwnMember(): Unit =
      if (isText(Continuation)) continuation = Some(parsed(SequenceNumber.parse)) else skipMember()

    override protected def readChildren(): Unit = children = readAll(readChild())

    private def readAll[A](readOne: => A): Vector[A] = {
      val all = Vector.newBuilder[A]
      var left = in.elements()
      while (in.hasMore(left)) {
        all += readOne
        left -= 1
      }
      all.result()
    }

    private def readChild(): ChildShard = {
      var id = Option.empty[ShardId]
      var parents = Vector.empty[ShardId]
      var hashKeys = Option.empty[HashKeyRange]
      readMembers {
        if (isText(Id)) id = Some(ShardId(readText()))
        else if (isText(Parents)) parents = readAll(ShardId(readText()))
        else if (isText(HashKeys)) hashKeys = Some(readHashKeys())
        else skipMember()
      }
      ChildShard(needed(id), parents, needed(hashKeys))
    }

    private def readHashKeys(): HashKeyRange = {
      var first = Option.empty[HashKey]
      var last = Option.empty[HashKey]
      readMembers {
        if (isText(First)) first = Some(parsed(HashKey.parse))
        else if (isText(Last)) last = Some(parsed(HashKey.parse))
        else skipMember()
      }
      if (needed(first) > needed(last)) throw ItemReader.Unsupported
      HashKeyRange(needed(first), needed(last))
    }

    private def parsed[A](parse: String => Option[A]): A = needed(parse(readText()))

    private def needed[A](found: Option[A]): A = found.getOrElse(throw ItemReader.Unsupported)
  }

  private final class Refusal(of: EventMessage)
      extends MemberReader[ItemReader](of.bytes, reader(of)) {
    var text: Option[String] = None

    override protected def readMember(): Unit =
      if (Reasons.exists(isText)) text = Some(readText()) else skipMember()
  }
}
