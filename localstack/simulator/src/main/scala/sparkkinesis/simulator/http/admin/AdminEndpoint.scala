package sparkkinesis.simulator.http.admin

import java.io.ByteArrayOutputStream
import java.time.Instant

import scala.concurrent.duration._

import com.fasterxml.jackson.core.{JsonFactory, JsonGenerator}

import sparkkinesis.simulator.http.wire.UnicodeText
import sparkkinesis.simulator.service.SimulatedKinesis

/** @param body JSON text */
private[http] final case class AdminResponse(status: Int, body: Array[Byte])

/**
 * The endpoints that Kinesis does not have, under `/_simulator/`: faults, the clock and the
 * statistics of calls, in JSON.
 */
private[http] final class AdminEndpoint(kinesis: SimulatedKinesis) {
  import AdminEndpoint._

  /** @param path a query in it is ignored */
  def answer(method: String, path: String, body: Array[Byte]): AdminResponse =
    try
      (method, path.takeWhile(_ != '?').stripPrefix(Prefix)) match {
        case ("GET", "health") => json(_.writeStringField("status", "ok"))
        case ("GET", "faults") => faults
        case ("POST", "faults") =>
          val id = kinesis.script.add(FaultScript.rule(AdminMembers.parse(body)))
          json(_.writeNumberField("id", id))
        case ("DELETE", "faults") =>
          kinesis.script.removeAll()
          faults
        case ("DELETE", OneFault(id)) if id.toIntOption.exists(kinesis.script.remove) => faults
        case ("DELETE", OneFault(id)) => error(404, s"There is no fault $id.")
        case ("GET", "clock") => clock
        case ("POST", "clock") => advance(AdminMembers.parse(body))
        case ("GET", "stats") => statistics
        case ("DELETE", "stats") =>
          kinesis.statistics.reset()
          statistics
        case _ => error(404, s"$method $path does not exist: expected $Usage.")
      }
    catch { case bad: BadAdminRequest => error(400, bad.getMessage) }

  private def faults: AdminResponse = json { out =>
    out.writeArrayFieldStart("faults")
    kinesis.script.rules.foreach(FaultScript.write(out, _))
    out.writeEndArray()
  }

  private def clock: AdminResponse = json { out =>
    out.writeFieldName("now")
    out.writeNumber(java.math.BigDecimal.valueOf(kinesis.now.toEpochMilli, 3))
  }

  private def advance(m: AdminMembers): AdminResponse = {
    m.allowOnly(Seq("advance"))
    val allowed = s"seconds, 0 to ${MaxAdvance.toSeconds}"
    val by = m.number("advance", 0, MaxAdvance.toSeconds.toDouble)
    val duration = (by.getOrElse(throw m.missing("advance", allowed)) * 1000).round.millis
    val result = kinesis.now.plusMillis(duration.toMillis)
    if (result.isAfter(LastInstant))
      throw new BadAdminRequest(
        s"Member 'advance' leads to $result: expected no later than $LastInstant."
      )
    kinesis.advance(duration)
    clock
  }

  private def statistics: AdminResponse = json { out =>
    val counts = kinesis.statistics.snapshot
    writeCounts(out, "calls", counts.calls)
    out.writeObjectFieldStart("refused")
    counts.refused.toSeq.sortBy(_._1).foreach { case (operation, codes) =>
      writeCounts(out, operation, codes)
    }
    out.writeEndObject()
    out.writeNumberField("recordsPut", counts.recordsPut)
    out.writeNumberField("bytesPut", counts.bytesPut)
    out.writeNumberField("recordsRead", counts.recordsRead)
    out.writeNumberField("bytesRead", counts.bytesRead)
    out.writeNumberField("entriesFailed", counts.entriesFailed)
  }
}

private[http] object AdminEndpoint {
  val Prefix = "/_simulator/"

  private val OneFault = "faults/(\\d{1,10})".r
  private val MaxAdvance = 3650.days

  /** The last time that sequence numbers can contain. */
  private val LastInstant = Instant.parse("4000-01-01T00:00:00Z")
  private val Usage = "health (GET), faults (GET, POST, DELETE), faults/ID (DELETE), " +
    "clock (GET, POST) or stats (GET, DELETE)"
  private val factory = new JsonFactory()

  private def writeCounts(out: JsonGenerator, name: String, counts: Map[String, Long]): Unit = {
    out.writeObjectFieldStart(name)
    counts.toSeq.sortBy(_._1).foreach { case (key, count) => out.writeNumberField(key, count) }
    out.writeEndObject()
  }

  private def error(status: Int, message: String): AdminResponse =
    json(status)(_.writeStringField("error", UnicodeText.withoutLoneSurrogates(message)))

  private def json(write: JsonGenerator => Unit): AdminResponse = json(200)(write)

  private def json(status: Int)(write: JsonGenerator => Unit): AdminResponse = {
    val bytes = new ByteArrayOutputStream
    val out = factory.createGenerator(bytes)
    out.writeStartObject()
    write(out)
    out.writeEndObject()
    out.close()
    AdminResponse(status, bytes.toByteArray)
  }
}
