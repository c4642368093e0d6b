package sparkkinesis.bench

import java.net.URI
import java.net.http.{HttpClient, HttpRequest, HttpResponse}

import scala.jdk.CollectionConverters._

import com.fasterxml.jackson.databind.ObjectMapper

/** How often each operation was called, by the local Kinesis' own count. */
object ServerCalls {
  private val http = HttpClient.newHttpClient()
  private val mapper = new ObjectMapper()

  /**
   * Since it began, by operation; those never called may be missing.
   *
   * @throws IllegalStateException where it does not count
   */
  def of(endpoint: URI): Map[String, Long] = {
    val request = HttpRequest.newBuilder(endpoint.resolve("/_simulator/stats")).build()
    val answer = http.send(request, HttpResponse.BodyHandlers.ofString())
    if (answer.statusCode != 200)
      throw new IllegalStateException(s"The local Kinesis counts no calls: $answer.")
    val calls = mapper.readTree(answer.body).get("calls")
    calls.properties.asScala.map(entry => entry.getKey -> entry.getValue.asLong).toMap
  }
}
