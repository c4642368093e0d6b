package sparkkinesis.bench.measure

import java.net.URI
import java.net.http.{HttpClient, HttpRequest, HttpResponse}

import scala.jdk.CollectionConverters._

import com.fasterxml.jackson.databind.ObjectMapper

/**
 * The counts of the local Kinesis since its start.
 *
 * @param bytesPut data of the records that were written
 * @param entriesFailed failed entries of `PutRecords` requests
 */
final case class ServerStats(calls: Map[String, Long], bytesPut: Long, entriesFailed: Long) {

  /** Number of calls of an operation. */
  def callsOf(operation: String): Long = calls.getOrElse(operation, 0L)
}

object ServerStats {
  private val http = HttpClient.newHttpClient()
  private val mapper = new ObjectMapper()

  /** @throws IllegalStateException if the server has no statistics */
  def of(endpoint: URI): ServerStats = {
    val request = HttpRequest.newBuilder(endpoint.resolve("/_simulator/stats")).build()
    val answer = http.send(request, HttpResponse.BodyHandlers.ofString())
    if (answer.statusCode != 200)
      throw new IllegalStateException(s"The local Kinesis counts no calls: $answer.")
    val stats = mapper.readTree(answer.body)
    val calls = stats.get("calls").properties.asScala
    ServerStats(
      calls.map(entry => entry.getKey -> entry.getValue.asLong).toMap,
      stats.get("bytesPut").asLong,
      stats.get("entriesFailed").asLong
    )
  }
}
