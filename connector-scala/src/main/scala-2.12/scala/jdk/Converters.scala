package scala.jdk

import java.time.{Duration => JavaDuration}
import java.util.Optional

import scala.concurrent.duration._

/**
 * The converters of Scala 2.13's `OptionConverters`. Spark 3.5 brings
 * `scala.jdk.CollectionConverters` itself.
 */
object OptionConverters {
  implicit final class RichOptional[A](private val option: Optional[A]) extends AnyVal {
    def toScala: Option[A] = if (option.isPresent) Some(option.get) else None
  }
  implicit final class RichOption[A](private val option: Option[A]) extends AnyVal {
    def toJava: Optional[A] = option.fold(Optional.empty[A])(Optional.of(_))
  }
}

/** The converters of Scala 2.13's `DurationConverters`. */
object DurationConverters {
  implicit final class JavaDurationOps(private val duration: JavaDuration) extends AnyVal {
    def toScala: FiniteDuration = duration.toNanos.nanos
  }
  implicit final class ScalaDurationOps(private val duration: FiniteDuration) extends AnyVal {
    def toJava: JavaDuration = JavaDuration.ofNanos(duration.toNanos)
  }
}
