package sparkkinesis.simulator.journal

import java.io.ByteArrayOutputStream
import java.nio.file.Path
import java.time.Instant

import scala.concurrent.duration._
import scala.jdk.CollectionConverters._

import com.fasterxml.jackson.core.JsonGenerator
import com.fasterxml.jackson.databind.JsonNode
import org.slf4j.LoggerFactory

import sparkkinesis.simulator.http.request.Requests
import sparkkinesis.simulator.operation.Changing
import sparkkinesis.simulator.service.{Journal, JournalException, RestoredState}
import sparkkinesis.simulator.state.{Behaviour, Settings, State}

/**
 * Stores the state in a directory, as the sequence of changes with their times. Each entry is a
 * CBOR object of one of two kinds:
 *   - `{"Operation": name, "Time": ISO-8601, "Request": {…}}`, with the request in the service's
 *     format;
 *   - `{"Settings": {"RetentionMillis": n, "ChangeMillis": n, "Behaviour": {name: text}}}`, the
 *     settings of the changes that follow. It is the first entry, and there is one per start. The
 *     behaviour is missing if all of it is off.
 *
 * The file grows with each write, and is never compacted. To start with an empty one, use another
 * directory.
 */
final class FileJournal private (file: JournalFile) extends Journal {
  import FileJournal._

  override private[simulator] def restored(settings: Settings): RestoredState = synchronized {
    var kept = RestoredState(State.empty(settings), Instant.MIN)
    file.replay { (at, entry) =>
      kept =
        try replayed(kept, Requests.parse(entry))
        catch {
          case e @ (_: IllegalArgumentException | _: java.io.IOException) =>
            throw new JournalException(
              s"The journal's entry at byte $at cannot be repeated: ${e.getMessage}. Use the " +
                "program that wrote it, or another directory.",
              Some(e)
            )
        }
    }
    file.append(content { out =>
      out.writeObjectFieldStart("Settings")
      out.writeNumberField("RetentionMillis", settings.retention.toMillis)
      out.writeNumberField("ChangeMillis", settings.changeTime.toMillis)
      if (settings.behaviour != Behaviour()) writeBehaviour(settings.behaviour, out)
      out.writeEndObject()
    })
    kept.copy(state = kept.state.copy(settings = settings))
  }

  override private[simulator] def append(
      operation: Changing[Any],
      answer: Any,
      now: Instant
  ): Unit = synchronized {
    Requests.settled(operation, answer).foreach { settled =>
      file.append(content { out =>
        out.writeStringField("Operation", settled.name)
        out.writeStringField("Time", now.toString)
        out.writeFieldName("Request")
        Requests.write(settled, out)
      })
    }
  }

  /** Releases the directory for other processes. */
  override def close(): Unit = synchronized(file.close())
}

object FileJournal {
  private val log = LoggerFactory.getLogger(classOf[FileJournal])

  /**
   * Throws [[JournalException]] if the directory cannot be used, or if another journal or process
   * uses it.
   *
   * @param directory created if it does not exist
   * @param warn receives a sentence about what could not be restored; by default it is logged
   */
  def open(directory: Path, warn: String => Unit = log.warn(_)): FileJournal =
    new FileJournal(JournalFile.open(directory, warn))

  private def replayed(kept: RestoredState, entry: JsonNode): RestoredState =
    Option(entry.get("Settings")) match {
      case Some(node) => kept.copy(state = kept.state.copy(settings = settings(node)))
      case None =>
        val name = entry.path("Operation").asText
        val time = Instant.parse(entry.path("Time").asText)
        val outcome = Requests.read(name, entry.path("Request")).run(kept.state, time)
        outcome.answer.left.foreach { failure =>
          throw new IllegalArgumentException(s"$name of $time fails: $failure")
        }
        RestoredState(outcome.state, time)
    }

  private def writeBehaviour(behaviour: Behaviour, out: JsonGenerator): Unit = {
    out.writeObjectFieldStart("Behaviour")
    Behaviour.settings.foreach(it => out.writeStringField(it.name, it.written(behaviour)))
    out.writeEndObject()
  }

  /** Settings without limits, because the journal contains only calls that were accepted. */
  private def settings(node: JsonNode): Settings = Settings(
    retention = node.path("RetentionMillis").asLong.millis,
    changeTime = node.path("ChangeMillis").asLong.millis,
    shardLimit = Int.MaxValue,
    consumerLimit = Int.MaxValue,
    behaviour = node.path("Behaviour").properties.asScala.foldLeft(Behaviour()) { (all, member) =>
      Behaviour
        .changed(all, member.getKey, member.getValue.asText)
        .getOrElse(throw new IllegalArgumentException(s"unknown setting $member"))
    }
  )

  private def content(write: JsonGenerator => Unit): Array[Byte] = {
    val bytes = new ByteArrayOutputStream(1024)
    val out = Requests.generator(bytes)
    out.writeStartObject()
    write(out)
    out.writeEndObject()
    out.close()
    bytes.toByteArray
  }
}
