package sparkkinesis

import java.time.{Duration => JavaDuration}
import java.util.Optional

import scala.collection.{immutable, mutable, IterableView, JavaConverters}
import scala.concurrent.duration._
import scala.util.Try

/** What the sources use of Scala 2.13's library, for 2.12: imported into each of them. */
object compat {
  val CollectionConverters: JavaConverters.type = JavaConverters

  object OptionConverters {
    implicit final class OfJava[A](private val given: Optional[A]) extends AnyVal {
      def toScala: Option[A] = if (given.isPresent) Some(given.get) else None
    }
    implicit final class OfScala[A](private val given: Option[A]) extends AnyVal {
      def toJava: Optional[A] = given.fold(Optional.empty[A])(Optional.of(_))
    }
  }

  object DurationConverters {
    implicit final class OfJava(private val given: JavaDuration) extends AnyVal {
      def toScala: FiniteDuration = given.toNanos.nanos
    }
    implicit final class OfScala(private val given: FiniteDuration) extends AnyVal {
      def toJava: JavaDuration = JavaDuration.ofNanos(given.toNanos)
    }
  }

  object ArraySeq {
    def unsafeWrapArray[A](array: Array[A]): immutable.IndexedSeq[A] =
      new immutable.IndexedSeq[A] {
        override def length: Int = array.length
        override def apply(index: Int): A = array(index)
      }
  }

  implicit final class OfString(private val text: String) extends AnyVal {
    def toIntOption: Option[Int] = Try(text.toInt).toOption
    def toLongOption: Option[Long] = Try(text.toLong).toOption
    def toBooleanOption: Option[Boolean] = Try(text.toBoolean).toOption
  }

  implicit final class OfOptions(private val options: Option.type) extends AnyVal {
    def when[A](holds: Boolean)(value: => A): Option[A] = if (holds) Some(value) else None
  }

  implicit final class OfIterators(private val iterators: Iterator.type) extends AnyVal {
    def unfold[A, S](first: S)(step: S => Option[(A, S)]): Iterator[A] =
      Iterator.single(first).flatMap { first => // so that nothing is done before it is asked for
        Iterator
          .iterate(step(first))(_.flatMap { case (_, state) => step(state) })
          .takeWhile(_.isDefined)
          .flatMap(_.map { case (value, _) => value })
      }
  }

  implicit final class OfSortedMaps(private val maps: immutable.SortedMap.type) extends AnyVal {
    def from[K: Ordering, V](pairs: TraversableOnce[(K, V)]): immutable.SortedMap[K, V] =
      immutable.SortedMap.empty[K, V] ++ pairs
  }

  implicit final class OfIterable[A](private val all: Iterable[A]) extends AnyVal {
    def minByOption[B: Ordering](by: A => B): Option[A] =
      if (all.isEmpty) None else Some(all.minBy(by))
    def maxByOption[B: Ordering](by: A => B): Option[A] =
      if (all.isEmpty) None else Some(all.maxBy(by))
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
    def mapValues[W](change: V => W): Iterable[(K, W)] = view.map { case (key, value) =>
      key -> change(value)
    }
  }
}
