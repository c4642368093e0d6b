package sparkkinesis.simulator.operation

import java.time.Instant

import scala.collection.immutable.SortedMap

import sparkkinesis.model.StreamArn
import sparkkinesis.simulator.state.{Check, Failure, State, StreamState}

/** Adds tags, and replaces those with the same key. */
final case class AddTagsToStream(stream: StreamArn, tags: Map[String, String])
    extends Changing[Unit] {
  override def change(state: State, now: Instant): Either[Failure, (State, Unit)] =
    Tags.add(state, stream, tags, now)
}

/** @param keys 1 to 50; unknown keys are ignored */
final case class RemoveTagsFromStream(stream: StreamArn, keys: Seq[String]) extends Changing[Unit] {
  override def change(state: State, now: Instant): Either[Failure, (State, Unit)] =
    Tags.remove(state, stream, keys, now)
}

/**
 * @param after only keys after this one
 * @param limit 1 to 50
 */
final case class ListTagsForStream(stream: StreamArn, after: Option[String], limit: Int)
    extends ReadOnly[TagListing] {
  override def answer(state: State, now: Instant): Either[Failure, TagListing] =
    for {
      _ <- Check.range("limit", limit, 1, Tags.Limit)
      found <- state.existing(stream, now)
    } yield {
      val tags = found.config.tags.toVector.filter(tag => after.forall(_ < tag._1))
      TagListing(tags.take(limit), hasMore = tags.size > limit)
    }
}

/** `AddTagsToStream` by ARN. */
final case class TagResource(stream: StreamArn, tags: Map[String, String]) extends Changing[Unit] {
  override def change(state: State, now: Instant): Either[Failure, (State, Unit)] =
    Tags.add(state, stream, tags, now)
}

/** `RemoveTagsFromStream` by ARN. */
final case class UntagResource(stream: StreamArn, keys: Seq[String]) extends Changing[Unit] {
  override def change(state: State, now: Instant): Either[Failure, (State, Unit)] =
    Tags.remove(state, stream, keys, now)
}

/** Lists all tags at once. */
final case class ListTagsForResource(stream: StreamArn) extends ReadOnly[TagListing] {
  override def answer(state: State, now: Instant): Either[Failure, TagListing] =
    state
      .existing(stream, now)
      .map(found => TagListing(found.config.tags.toVector, hasMore = false))
}

/** Tags by key. */
final case class TagListing(tags: Seq[(String, String)], hasMore: Boolean)

private[simulator] object Tags {

  /** Tags of a stream. */
  val Limit = 50

  private val RequestLimit = 200
  private val KeyLength = 128
  private val ValueLength = 256
  private val Allowed = "[\\p{L}\\p{Z}\\p{N}_.:/=+\\-@%]*"

  def add(
      state: State,
      stream: StreamArn,
      tags: Map[String, String],
      now: Instant
  ): Either[Failure, (State, Unit)] =
    for {
      _ <- check(tags)
      found <- state.changeable(stream, now)
      all = found.config.tags ++ tags
      _ <- count(stream, all.size)
    } yield (replaced(state, found, all), ())

  def remove(
      state: State,
      stream: StreamArn,
      keys: Seq[String],
      now: Instant
  ): Either[Failure, (State, Unit)] =
    for {
      _ <- Check.size("tagKeys", keys.size, 1, Limit)
      found <- state.changeable(stream, now)
    } yield (replaced(state, found, found.config.tags -- keys), ())

  /** The tags of a new stream, which may have none. */
  def checkNew(stream: StreamArn, tags: Map[String, String]): Check.Checked =
    if (tags.isEmpty) Right(()) else check(tags).flatMap(_ => count(stream, tags.size))

  private def count(stream: StreamArn, tags: Int): Check.Checked =
    Check.that(tags <= Limit)(
      Failure.invalid(s"Stream ${stream.name} would have $tags tags; $Limit are allowed.")
    )

  private def check(tags: Map[String, String]): Check.Checked =
    for {
      _ <- Check.size("tags", tags.size, 1, RequestLimit)
      _ <- Check.all(tags) { case (key, value) =>
        for {
          _ <- Check.size("tags.key", key.length, 1, KeyLength)
          _ <- Check.size("tags.value", value.length, 0, ValueLength)
          _ <- Check.that(key.matches(Allowed) && value.matches(Allowed))(unfit(key, Characters))
          _ <- Check.that(!key.startsWith("aws:"))(
            unfit(key, "keys that begin with aws: are AWS's")
          )
        } yield ()
      }
    } yield ()

  private val Characters = "letters, digits, white space and _ . : / = + - @ % are allowed"

  private def unfit(key: String, why: String): Failure =
    Failure.invalid(s"The tag of key '$key' is not valid: $why.")

  private def replaced(
      state: State,
      stream: StreamState,
      tags: SortedMap[String, String]
  ): State = state.updated(stream.copy(config = stream.config.copy(tags = tags)))
}
