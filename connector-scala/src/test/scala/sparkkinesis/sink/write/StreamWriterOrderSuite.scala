package sparkkinesis.sink.write

import org.scalatest.funsuite.AnyFunSuite

import sparkkinesis.client.KinesisException
import sparkkinesis.sink.SinkOptions
import sparkkinesis.sink.lane.Lane
import sparkkinesis.sink.write.StreamWriter.Next

/** What `isOrdered` adds: the records of a key stay in order. */
class StreamWriterOrderSuite extends AnyFunSuite with StreamWriterFixture {
  private val ordered = SinkOptions(isOrdered = true)

  test("a lane has one request in flight with one record per key, and failed records go first") {
    val world = new World(evenShards(1))
    val writer = world.writer(ordered)
    Seq("a" -> "a1", "a" -> "a2", "b" -> "b1", "a" -> "a3", "b" -> "b2").foreach { case (k, t) =>
      add(writer, k, t)
    }
    val first = send(writer)
    assert(texts(first) === Seq("a1", "b1"))
    assert(writer.next(0, isUrgent = true) === Next.Wait(Lane.Never))
    writer.answered(first, Seq(oops, world.write(first.entries.last)), 1)
    val second = send(writer, 51)
    assert(texts(second) === Seq("a1", "b2"))
    writer.answered(second, world.write(second), 52)
    val third = send(writer, 52)
    assert(texts(third) === Seq("a2"))
    writer.failed(third, new KinesisException.Unreachable("no answer"), 53)
    assert(texts(send(writer, 200)) === Seq("a2"))
  }

  test("lanes change only while no request is in flight") {
    val world = new World(evenShards(1))
    val writer = world.writer(ordered)
    (1 to 2).foreach(n => keys.foreach(add(writer, _, n.toString)))
    val request = send(writer)
    world.shards = split
    writer.listed(world.stream.shardsAfter(writer.shards), 1)
    assert(writer.next(1, isUrgent = true) === Next.Wait(Lane.Never))
    writer.failed(request, new KinesisException.ServiceFailure("oops"), 2)
    val next = send(writer, 500)
    assert(next.parts.size === 2 && texts(next) === Seq("1", "1"))
  }
}
