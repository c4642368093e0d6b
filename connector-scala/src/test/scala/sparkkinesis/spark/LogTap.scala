package sparkkinesis.spark

import java.util.concurrent.ConcurrentLinkedQueue

import scala.jdk.CollectionConverters._

import org.apache.logging.log4j.core.appender.AbstractAppender
import org.apache.logging.log4j.core.config.{Configurator, Property}
import org.apache.logging.log4j.core.{LogEvent, Logger}
import org.apache.logging.log4j.{Level, LogManager}

/** Listens to one logger. */
object LogTap {

  /** The events that the logger of `subject` writes at DEBUG and above while `body` runs. */
  def of(subject: Class[_])(body: => Any): Seq[LogEvent] = {
    val logger = LogManager.getLogger(subject).asInstanceOf[Logger]
    val level = logger.getLevel
    val tap = new Tap
    tap.start()
    logger.addAppender(tap)
    logger.setAdditive(false)
    Configurator.setLevel(subject, Level.DEBUG)
    try body
    finally {
      Configurator.setLevel(subject, level)
      logger.setAdditive(true)
      logger.removeAppender(tap)
    }
    tap.heard.asScala.toSeq
  }

  private final class Tap extends AbstractAppender("tap", null, null, true, Property.EMPTY_ARRAY) {
    val heard = new ConcurrentLinkedQueue[LogEvent]
    override def append(event: LogEvent): Unit = { heard.add(event.toImmutable); () }
  }
}
