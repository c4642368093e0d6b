package sparkkinesis.client.aws

import java.io.{EOFException, IOException}
import java.nio.ByteBuffer

import scala.collection.mutable

import org.reactivestreams.Subscription
import org.scalatest.funsuite.AnyFunSuite

import sparkkinesis.client.aws.wire.{EventMessage, EventMessages, EventStreams}

class EventBodySuite extends AnyFunSuite {
  import EventStreams.{event, initial}

  /** A body, and a network that counts what is asked of it. */
  private final class Setting {
    @volatile var asked = 0L
    var isCancelled = false
    var wasCancelledAtEnd = false
    val events: mutable.Buffer[String] = mutable.Buffer.empty[String]
    val ends: mutable.Buffer[Option[Throwable]] = mutable.Buffer.empty[Option[Throwable]]
    var onEvent: () => Unit = () => ()

    val body = new EventBody(
      message => {
        val isEvent = message.headers(":event-type") == "SubscribeToShardEvent"
        if (isEvent) {
          events += payload(message)
          onEvent()
        }
        isEvent
      },
      end => {
        wasCancelledAtEnd = isCancelled
        ends += end: Unit
      }
    )

    val network: Subscription = new Subscription {
      override def request(count: Long): Unit = asked += count
      override def cancel(): Unit = isCancelled = true
    }

    def begin(): this.type = {
      body.onSubscribe(network)
      this
    }

    def send(bytes: Array[Byte]*): Unit = body.onNext(ByteBuffer.wrap(bytes.toArray.flatten))
  }

  private def payload(message: EventMessage) =
    new String(message.bytes, message.payloadBegin, message.payloadEnd - message.payloadBegin)

  private def text(it: String) = event(it.getBytes)

  test("the network is asked only while an event is asked for") {
    val it = new Setting().begin()
    assert(it.asked === 0)
    it.body.request()
    assert(it.asked === 1)
    it.send(initial)
    assert(it.asked === 2)
    val (head, tail) = text("a").splitAt(5)
    it.send(head)
    assert(it.asked === 3)
    it.send(tail)
    assert(it.asked === 3 && it.events === Seq("a"))
    it.body.request()
    assert(it.asked === 4)
  }

  test("events that were asked for before the answer are asked for then") {
    val it = new Setting
    it.body.request()
    it.body.request()
    it.begin()
    assert(it.asked === 1)
    it.send(text("a"))
    assert(it.asked === 2)
    it.send(text("b"))
    assert(it.asked === 2 && it.events === Seq("a", "b"))
  }

  test("events that arrive together are handed out as they are asked for") {
    val it = new Setting().begin()
    it.body.request()
    it.send(text("a"), text("b"), text("c").take(20))
    assert(it.events === Seq("a"))
    it.body.request()
    assert(it.events === Seq("a", "b") && it.asked === 1)
    it.body.request()
    assert(it.asked === 2)
    it.send(text("c").drop(20))
    assert(it.events === Seq("a", "b", "c"))
  }

  test("an event that asks for the next one gets it") {
    val it = new Setting().begin()
    it.onEvent = () => if (it.events.size < 1000) it.body.request()
    it.body.request()
    it.send(Seq.fill(1000)(text("a")): _*)
    assert(it.events.size === 1000 && it.asked === 1)
  }

  test("the end of the body is the end, after the events that have arrived") {
    val it = new Setting().begin()
    it.body.request()
    it.send(text("a"), text("b"))
    it.body.onComplete()
    assert(it.events === Seq("a") && it.ends.isEmpty)
    it.body.request()
    assert(it.events === Seq("a", "b") && it.ends === Seq(None))
    it.body.request()
    it.body.onError(new IOException)
    assert(it.ends === Seq(None))
  }

  test("an end is reported without a request") {
    val it = new Setting().begin()
    it.body.onComplete()
    assert(it.ends === Seq(None))
  }

  test("a body that ends within a message has failed") {
    val it = new Setting().begin()
    it.body.request()
    it.send(text("a").dropRight(1))
    it.body.onComplete()
    assert(it.ends.flatten.exists(_.isInstanceOf[EOFException]) && it.events.isEmpty)
  }

  test("a connection that breaks has failed for its own reason") {
    val it = new Setting().begin()
    it.body.request()
    it.send(text("a").dropRight(1))
    val reason = new IOException("reset")
    it.body.onError(reason)
    assert(it.ends === Seq(Some(reason)))
  }

  test("corrupt bytes end the body, and the rest is not read") {
    val it = new Setting().begin()
    it.body.request()
    it.body.request()
    it.send(text("a").updated(20, 'x'.toByte), text("b"))
    assert(it.ends.flatten.exists(_.isInstanceOf[EventMessages.Corrupt]))
    assert(it.isCancelled && it.events.isEmpty && it.asked === 1)
  }

  test("a failure is reported before the network is cancelled, which it may report too") {
    val it = new Setting().begin()
    it.body.request()
    it.send(text("a").reverse)
    assert(it.ends.size === 1 && it.isCancelled && !it.wasCancelledAtEnd)
  }

  test("what a receiver throws ends the body, even an error") {
    val it = new Setting().begin()
    it.onEvent = () => throw new OutOfMemoryError("full")
    it.body.request()
    it.send(text("a"), text("b"))
    it.body.request()
    assert(it.ends.flatten.map(_.getMessage) === Seq("full") && it.isCancelled)
    assert(it.events === Seq("a"))
  }

  test("after `close` nothing is asked for, and late bytes and ends change nothing") {
    val it = new Setting().begin()
    it.body.request()
    it.body.close()
    it.send(text("a"))
    it.body.request()
    it.body.onComplete()
    assert(it.isCancelled && it.events.isEmpty && it.ends.isEmpty && it.asked === 1)
  }

  test("an answer after `close` is cancelled") {
    val it = new Setting
    it.body.request()
    it.body.close()
    it.begin()
    assert(it.isCancelled && it.asked === 0)
  }

  test("any thread may ask, and each event comes once") {
    val it = new Setting().begin()
    val count = 2000
    val source = Seq.fill(count)(text("a")).toArray.flatten.grouped(100).toArray
    var sent = 0
    val asking = (1 to 2).map { _ =>
      val thread = new Thread(() => (1 to count / 2).foreach(_ => it.body.request()))
      thread.start()
      thread
    }
    // The network sends a part for each request.
    def isWanted = it.asked > sent
    while (sent < source.length) if (isWanted) {
      it.body.onNext(ByteBuffer.wrap(source(sent)))
      sent += 1
    }
    asking.foreach(_.join())
    assert(it.events.size === count)
  }
}
