package sparkkinesis.simulator.http.admin

import java.net.URI
import java.net.http.HttpRequest.BodyPublishers
import java.net.http.{HttpClient, HttpRequest, HttpResponse}
import java.nio.charset.StandardCharsets.UTF_8
import java.time.Instant

import com.fasterxml.jackson.databind.{JsonNode, ObjectMapper}
import org.scalatest.BeforeAndAfterAll
import org.scalatest.funsuite.AnyFunSuite

import sparkkinesis.client.aws.AwsClientFactory
import sparkkinesis.client.{KinesisClient, KinesisException}
import sparkkinesis.model.{Position, PutEntry, StreamName, StreamRef}
import sparkkinesis.simulator.fault.Fault
import sparkkinesis.simulator.service.{SimulatedClock, SimulatedKinesis}
import sparkkinesis.simulator.state.ShardState
import sparkkinesis.simulator.{KinesisServer, LocalClient}

/** The protocol of the admin endpoint, and what it does to calls over HTTP. */
final class AdminEndpointSuite extends AnyFunSuite with BeforeAndAfterAll {
  private val start = Instant.parse("2026-01-01T00:00:00Z")
  private val kinesis = new SimulatedKinesis(new SimulatedClock(start))
  private val server = KinesisServer.start(kinesis = kinesis)
  private val http = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build()
  private val mapper = new ObjectMapper()
  private val shard = ShardState.id(0)

  private lazy val client: KinesisClient =
    AwsClientFactory.create(LocalClient.config(server.endpoint))

  override protected def afterAll(): Unit = {
    client.close()
    server.close()
  }

  private def call(method: String, path: String, body: String = ""): (Int, JsonNode) = {
    val request = HttpRequest
      .newBuilder(URI.create(s"${server.endpoint}/_simulator/$path"))
      .method(method, BodyPublishers.ofString(body))
    val answer = http.send(request.build(), HttpResponse.BodyHandlers.ofString(UTF_8))
    (answer.statusCode, mapper.readTree(answer.body))
  }

  private def json(text: String): JsonNode = mapper.readTree(text.replace('\'', '"'))

  private def accepted(method: String, path: String, body: String = ""): JsonNode = {
    val (status, answer) = call(method, path, body.replace('\'', '"'))
    assert(status === 200, answer)
    answer
  }

  private def refused(method: String, path: String, body: String, words: String*): Unit = {
    val (status, answer) = call(method, path, body.replace('\'', '"'))
    assert(status === 400)
    val error = answer.get("error").textValue
    words.foreach(word => assert(error.contains(word), s"in the answer to $body"))
  }

  private def newStream(name: String): StreamRef = {
    kinesis.createStream(StreamName(name), 1)
    StreamRef.ByName(StreamName(name))
  }

  private def entries(data: String*): Seq[PutEntry] =
    data.map(text => PutEntry("k", text.getBytes(UTF_8), None))

  test("rules can be added, listed with the number of their strikes, and removed") {
    val stream = newStream("faults")
    accepted("DELETE", "faults")
    val id = accepted(
      "POST",
      "faults",
      "{'fault':'throttle','operation':'PutRecords','stream':'faults','times':2,'skip':1,'seed':7}"
    ).get("id").intValue
    client.putRecords(stream, entries("a"))
    intercept[KinesisException.Throttled](client.putRecords(stream, entries("b")))
    val listed = s"{'id':$id,'fault':'throttle','operation':'PutRecords','stream':'faults'," +
      "'times':2,'rate':1.0,'skip':1,'seed':7,'struck':1}"
    assert(accepted("GET", "faults") === json(s"{'faults':[$listed]}"))
    val next = accepted("POST", "faults", "{'fault':'stall','seconds':2.5}").get("id").intValue
    assert(next > id)
    assert(accepted("GET", "faults").at("/faults/1/seconds").doubleValue === 2.5)
    assert(accepted("DELETE", s"faults/$next").get("faults").size === 1)
    client.putRecords(newStream("others"), entries("c"))
    assert(accepted("DELETE", "faults") === json("{'faults':[]}"))
    client.putRecords(stream, entries("d"))
    assert(call("DELETE", s"faults/$id")._1 === 404)
  }

  test("every fault has a name, and strikes by that name") {
    accepted("DELETE", "faults")
    val names = Fault.simple.map(_.name) ++ Seq("stall", "partial-put")
    names.foreach { name =>
      val more = if (name == "stall") ",'seconds':0" else ""
      accepted("POST", "faults", s"{'fault':'$name'$more,'shard':null}")
    }
    assert(kinesis.script.rules.map(_.rule.fault.name) === names)
    accepted("DELETE", "faults")
  }

  test("a rule for a shard strikes reads of that shard") {
    accepted("DELETE", "faults")
    val stream = newStream("shards")
    accepted("POST", "faults", s"{'fault':'expired-iterator','shard':'$shard','times':1}")
    val iterator = client.shardIterator(stream, shard, Position.TrimHorizon)
    intercept[KinesisException.IteratorExpired](client.getRecords(stream, iterator, 1))
    assert(client.getRecords(stream, iterator, 1).records.isEmpty)
  }

  test(
    "an invalid rule is refused, and the error has the member, the value and the allowed values"
  ) {
    accepted("DELETE", "faults")
    Seq(
      ("", Seq("JSON")),
      ("{", Seq("JSON")),
      ("[]", Seq("object")),
      ("{}", Seq("fault", "missing", "throttle", "wrong-shard")),
      ("{'fault':'throtle'}", Seq("fault", "throtle", "throttle")),
      ("{'fault':7}", Seq("fault", "7", "string")),
      ("{'fault':'throttle','tims':3}", Seq("tims", "times")),
      ("{'fault':'throttle','times':0}", Seq("times", "0", "1 to")),
      ("{'fault':'throttle','times':'x'}", Seq("times", "x", "whole number")),
      ("{'fault':'throttle','times':1.5}", Seq("times", "1.5", "whole number")),
      ("{'fault':'throttle','rate':1.01}", Seq("rate", "1.01", "0 to 1")),
      ("{'fault':'throttle','rate':-1}", Seq("rate", "-1", "0 to 1")),
      ("{'fault':'throttle','rate':true}", Seq("rate", "true", "number")),
      ("{'fault':'throttle','skip':-1}", Seq("skip", "-1", "0 to")),
      ("{'fault':'throttle','seed':99999999999999999999}", Seq("seed", "99999999999999999999")),
      ("{'fault':'throttle','stream':'a/b'}", Seq("stream", "a/b", "name")),
      ("{'fault':'throttle','shard':'a b'}", Seq("shard", "a b", "id")),
      ("{'fault':'throttle','operation':'Get'}", Seq("operation", "Get", "GetRecords")),
      ("{'fault':'empty-page','operation':'PutRecord'}", Seq("operation", "PutRecord", "GetRec")),
      (
        s"{'fault':'throttle','operation':'PutRecords','shard':'$shard'}",
        Seq("shard", "PutRecords", "GetRecords")
      ),
      ("{'fault':'stall'}", Seq("seconds", "missing")),
      ("{'fault':'stall','seconds':-1}", Seq("seconds", "-1", "0 to 3600")),
      ("{'fault':'stall','seconds':1e999}", Seq("seconds", "0 to 3600")),
      ("{'fault':'throttle','seconds':1}", Seq("seconds", "stall"))
    ).foreach { case (body, words) => refused("POST", "faults", body, words: _*) }
    assert(kinesis.script.rules.isEmpty)
  }

  test("the clock only moves forward, expires iterators and trims records") {
    val stream = newStream("clock")
    client.putRecords(stream, entries("a"))
    val iterator = client.shardIterator(stream, shard, Position.TrimHorizon)
    val before = accepted("GET", "clock").get("now").decimalValue
    val after = accepted("POST", "clock", "{'advance':300.5}").get("now").decimalValue
    assert(after.subtract(before) === new java.math.BigDecimal("300.5"))
    intercept[KinesisException.IteratorExpired](client.getRecords(stream, iterator, 1))
    def records: Int = {
      val fresh = client.shardIterator(stream, shard, Position.TrimHorizon)
      client.getRecords(stream, fresh, 1).records.size
    }
    assert(records === 1)
    accepted("POST", "clock", "{'advance':86400}")
    assert(records === 0)
    refused("POST", "clock", "{'advance':-1}", "advance", "-1", "0 to")
    refused("POST", "clock", "{'advance':'1'}", "advance", "number")
    refused("POST", "clock", "{'back':1}", "back", "advance")
    refused("POST", "clock", "{}", "advance", "missing")
    assert(accepted("POST", "clock", "{'advance':0}") === accepted("GET", "clock"))
  }

  test("the clock stops at the last time that sequence numbers can represent") {
    val other = KinesisServer.start(kinesis =
      new SimulatedKinesis(new SimulatedClock(Instant.parse("3999-12-31T23:59:59Z")))
    )
    try {
      val request = HttpRequest
        .newBuilder(URI.create(s"${other.endpoint}/_simulator/clock"))
        .POST(BodyPublishers.ofString("{\"advance\": 2}"))
      val answer = http.send(request.build(), HttpResponse.BodyHandlers.ofString(UTF_8))
      assert(answer.statusCode === 400 && answer.body.contains("4000"))
    } finally other.close()
  }

  test("the statistics count exactly the calls of clients, over HTTP and in memory") {
    accepted("DELETE", "faults")
    val stream = newStream("statistics")
    val nothing = "{'calls':{},'refused':{},'recordsPut':0,'bytesPut':0,'recordsRead':0," +
      "'bytesRead':0,'entriesFailed':0}"
    assert(accepted("DELETE", "stats") === json(nothing))
    client.putRecords(stream, entries("abc", "de"))
    kinesis.putRecord(stream.name, PutEntry("é", "f".getBytes(UTF_8), None))
    accepted("POST", "faults", "{'fault':'partial-put','times':1}")
    client.putRecords(stream, entries("g", "h", "i", "j"))
    accepted("POST", "faults", "{'fault':'throttle','times':2}")
    (1 to 2).foreach(_ =>
      intercept[KinesisException.Throttled](client.putRecords(stream, entries("x")))
    )
    accepted("POST", "faults", "{'fault':'answer-lost','times':1}")
    intercept[KinesisException.Unreachable](client.putRecords(stream, entries("k")))
    accepted("POST", "faults", "{'fault':'reset','times':1}")
    intercept[KinesisException.Unreachable](client.putRecords(stream, entries("x")))
    val iterator = client.shardIterator(stream, shard, Position.TrimHorizon)
    client.getRecords(stream, iterator, 3)
    kinesis.getRecords(stream, iterator, 1)
    val missing = StreamRef.ByName(StreamName("missing"))
    intercept[KinesisException.NotFound](client.describeStream(missing))
    val expected = "{'calls':{'DescribeStreamSummary':1,'GetRecords':2,'GetShardIterator':1," +
      "'PutRecord':1,'PutRecords':6},'refused':{'DescribeStreamSummary':" +
      "{'ResourceNotFoundException':1}," +
      "'PutRecords':{'ProvisionedThroughputExceededException':2}}," +
      "'recordsPut':6,'bytesPut':16,'recordsRead':4,'bytesRead':14,'entriesFailed':2}"
    assert(accepted("GET", "stats") === json(expected))
    assert(accepted("DELETE", "stats") === json(nothing))
  }

  test("an unknown path is not found, and the error lists the known paths") {
    Seq("GET" -> "", "GET" -> "nothing", "PUT" -> "faults", "DELETE" -> "faults/x").foreach {
      case (method, path) =>
        val (status, answer) = call(method, path)
        assert(status === 404 && answer.get("error").textValue.contains("faults"))
    }
    assert(accepted("GET", "health?deep") === json("{'status':'ok'}"))
  }
}
