package sparkkinesis

import scala.collection.{immutable, mutable, IterableView}
import scala.util.Try

/**
 * Methods of Scala 2.13 that Scala 2.12 lacks, for the sources that import this. On Scala 2.13 the
 * import is empty. For the classes that Scala 2.12 lacks see the folder `scala` beside this one.
 */
private[sparkkinesis] object compat {
  implicit final class OfString(private val text: String) extends AnyVal {
    def toIntOption: Option[Int] = Try(text.toInt).toOption
    def toLongOption: Option[Long] = Try(text.toLong).toOption
    def toBooleanOption: Option[Boolean] = Try(text.toBoolean).toOption
  }

  implicit final class OfOptions(private val options: Option.type) extends AnyVal {
    def when[A](holds: Boolean)(value: => A): Option[A] = if (holds) Some(value) else None
  }

  implicit final class OfSortedMaps(private val maps: immutable.SortedMap.type) extends AnyVal {
    def from[K: Ordering, V](pairs: TraversableOnce[(K, V)]): immutable.SortedMap[K, V] =
      immutable.SortedMap.empty[K, V] ++ pairs
  }

  implicit final class OfIterable[A](private val all: Iterable[A]) extends AnyVal {
    def minByOption[B: Ordering](by: A => B): Option[A] =
      if (all.isEmpty) None else Some(all.minBy(by))
    def minOption(implicit order: Ordering[A]): Option[A] =
      if (all.isEmpty) None else Some(all.min(order))
    def maxOption(implicit order: Ordering[A]): Option[A] =
      if (all.isEmpty) None else Some(all.max(order))
    def groupMap[K, V](key: A => K)(value: A => V): Map[K, Vector[V]] =
      all.groupBy(key).map { case (group, members) => group -> members.map(value).toVector }
  }

  implicit final class OfQueue[A](private val queue: mutable.Queue[A]) extends AnyVal {
    def prependAll(first: Seq[A]): Unit = first.reverseIterator.foreach(_ +=: queue)
  }

  implicit final class OfMapView[K, V](private val view: IterableView[(K, V), Map[K, V]])
      extends AnyVal {
    def filterKeys(wanted: K => Boolean): Iterable[(K, V)] = view.filter { case (key, _) =>
      wanted(key)
    }
  }
}
