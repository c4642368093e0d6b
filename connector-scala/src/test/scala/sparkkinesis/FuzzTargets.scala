package sparkkinesis {

  import java.nio.charset.StandardCharsets.UTF_8
  import java.nio.file.{Files, Path}

  import org.scalacheck.Gen
  import org.scalacheck.rng.Seed

  /**
   * What must hold for any bytes. Jazzer calls the method of each object with bytes that it chooses
   * by the code that they reach (`make campaign PART=fuzz`). An exception is a finding.
   */
  trait FuzzTarget {
    def fuzzerTestOneInput(bytes: Array[Byte]): Unit

    /** Jazzer begins with some of them. */
    def examples: Gen[Array[Byte]]
  }

  object FuzzTargets {
    val all: Seq[FuzzTarget] = Seq(
      model.aggregate.AggregateTarget,
      source.checkpoint.OffsetTarget,
      source.checkpoint.OffsetLogTarget,
      source.options.OptionsTarget,
      client.aws.wire.GetRecordsTarget,
      client.aws.wire.PutRecordsTarget,
      client.aws.wire.EventStreamTarget,
      client.aws.wire.EventTarget,
      spark.payload.PayloadTarget,
      spark.once.AttemptTarget
    )

    private val Examples = 50L

    /**
     * Runs the target with this name on a file: `main(target, file)`. Or writes examples of all
     * targets, each into the folder with its name, and prints these names: `main(folder)`.
     */
    def main(args: Array[String]): Unit = args match {
      case Array(name, file) =>
        val bytes = Files.readAllBytes(Repository.root.resolve(file))
        val target = all.find(nameOf(_) == name)
        target.getOrElse(sys.error(s"no target $name")).fuzzerTestOneInput(bytes)
      case _ =>
        all.foreach(writeExamples(Path.of(args.head), _))
        all.foreach(it => println(s"target: ${nameOf(it)}"))
    }

    private def writeExamples(folder: Path, target: FuzzTarget): Unit = for {
      own <- Seq(Files.createDirectories(folder.resolve(nameOf(target))))
      seed <- 1L to Examples
      bytes <- target.examples.apply(Gen.Parameters.default, Seed(seed))
    } Files.write(own.resolve(s"example-$seed"), bytes)

    /** The name of a class whose static method Jazzer calls. */
    private def nameOf(target: FuzzTarget) = target.getClass.getName.stripSuffix("$")

    def utf8(text: String): Array[Byte] = text.getBytes(UTF_8)
  }
}

package sparkkinesis.model.aggregate {

  import org.scalacheck.Gen

  import sparkkinesis.FuzzTarget
  import sparkkinesis.KplAggregates.{message, subRecords, wrapped}

  /** A message with a correct MD5 is read as Google's reader of protobuf reads it. */
  object AggregateTarget extends FuzzTarget {
    override val examples: Gen[Array[Byte]] = subRecords.map(message)

    override def fuzzerTestOneInput(bytes: Array[Byte]): Unit = {
      SubRecords.read(bytes): Unit
      val found = SubRecords.read(wrapped(bytes))
      if (!hasLongNumbers(bytes)) {
        val expected = ProtobufOracle.read(bytes)
        assert(found == expected, s"$found instead of $expected")
      }
    }

    /** Google's reader drops what a length has beyond 32 bits; we do not believe such a length. */
    def hasLongNumbers(message: Array[Byte]): Boolean =
      message.indices.exists(i => message.slice(i, i + 4).count(_ < 0) == 4)
  }
}

package sparkkinesis.source.checkpoint {

  import java.nio.charset.StandardCharsets.UTF_8

  import org.scalacheck.Gen

  import sparkkinesis.FuzzTargets.utf8
  import sparkkinesis.shard.SourceException
  import sparkkinesis.{FuzzTarget, Generators}

  /** A text is an offset, which can be written again, or is refused. */
  object OffsetTarget extends FuzzTarget {
    override val examples: Gen[Array[Byte]] =
      Generators.offset.map(offset => utf8(OffsetCodec.encode(offset)))

    override def fuzzerTestOneInput(bytes: Array[Byte]): Unit =
      try {
        val offset = OffsetCodec.decode(new String(bytes, UTF_8))
        val text = OffsetCodec.encode(offset)
        assert(OffsetCodec.decode(text) == offset && !text.contains('\n'), text)
      } catch { case _: SourceException => () }
  }

  /** A file of Spark's offset log, with any offsets, is read or refused. */
  object OffsetLogTarget extends FuzzTarget {
    override val examples: Gen[Array[Byte]] = for {
      offsets <- Gen.choose(1, 3).flatMap(Gen.listOfN(_, Generators.offset.map(OffsetCodec.encode)))
      isNamed <- Gen.oneOf(true, false)
      lines = offsets.zipWithIndex.map { case (it, i) => if (isNamed) s"source$i:$it" else it }
    } yield utf8((Seq(if (isNamed) "v2" else "v1", "{}") ++ lines :+ "-").mkString("\n"))

    override def fuzzerTestOneInput(bytes: Array[Byte]): Unit =
      try {
        val log = LoggedOffsets.parse("/checkpoint", "offsets/7", new String(bytes, UTF_8))
        log.own.foreach { source =>
          try log.of(source): Unit
          catch { case _: SourceException => () }
        }
      } catch { case _: SourceException => () }
  }
}

package sparkkinesis.source.options {

  import java.nio.charset.StandardCharsets.UTF_8

  import org.scalacheck.Gen

  import sparkkinesis.FuzzTargets.utf8
  import sparkkinesis.client.options.{OptionException, Options}
  import sparkkinesis.sink.SinkOptions
  import sparkkinesis.{FuzzTarget, Generators}

  /**
   * Options of source and sink are accepted or refused. Each line is an option: the first character
   * chooses its name, and the rest is its value.
   */
  object OptionsTarget extends FuzzTarget {
    private val names = (SourceOptions.All ++ SinkOptions.All).map(_.name).distinct
    private val values = Seq("1", "10s", "5m", "1g", "true", "false", "latest", "trim_horizon") ++
      Seq("orders,refunds", s"${Generators.arn}", "2026-01-01T00:00:00Z", "kpl", "perKey", "1-7") ++
      Seq("""{"orders":"latest"}""", """{"orders":{"shardId-000000000000":"after:7"}}""")

    override val examples: Gen[Array[Byte]] = for {
      count <- Gen.choose(1, 5)
      line = Gen.zip(Gen.choose(32, 32 + names.size - 1), Gen.oneOf(values))
      lines <- Gen.listOfN(count, line)
    } yield utf8(lines.map { case (name, value) => s"${name.toChar}$value" }.mkString("\n"))

    override def fuzzerTestOneInput(bytes: Array[Byte]): Unit = {
      val lines = new String(bytes, UTF_8).split("\n").filter(_.nonEmpty)
      val chosen = lines.map(line => names((line.head + names.size - 32) % names.size) -> line.tail)
      val options = Map("streamName" -> "orders") ++ chosen
      accepted(SourceOptions.parse(options, Some("us-east-1")))
      accepted(SinkOptions.parse(Options.parse(options, SinkOptions.All)))
    }

    private def accepted(parse: => Any): Unit =
      try parse: Unit
      catch { case _: OptionException => () }
  }
}

package sparkkinesis.client.aws.wire {

  import java.nio.ByteBuffer
  import java.util.zip.CRC32

  import scala.annotation.tailrec
  import scala.jdk.CollectionConverters._
  import scala.util.{Failure, Success, Try}

  import org.scalacheck.Gen
  import software.amazon.awssdk.services.kinesis.model.PutRecordsRequest

  import sparkkinesis.client.aws.{AwsConversions, AwsKinesisClient, CannedHttp}
  import sparkkinesis.client.{Page, PutResult, ShardEvent, ShardIterator}
  import sparkkinesis.model._
  import sparkkinesis.{FuzzTarget, Generators}

  /** A page that the decoder accepts is read as the SDK reads it. */
  object GetRecordsTarget extends FuzzTarget {
    override val examples: Gen[Array[Byte]] =
      Gen.zip(CborPages.anyPage, Gen.oneOf(true, false), Gen.oneOf(true, false)).map {
        case (page, isSized, hasMore) => CborPages.encoded(page, isSized, hasMore)
      }

    override def fuzzerTestOneInput(bytes: Array[Byte]): Unit =
      GetRecordsDecoder.decode(bytes).foreach { page =>
        http.answer = bytes
        val stream = StreamRef.ByName(StreamName("orders"))
        val other = client.getRecords(stream, ShardIterator("at"), 100)
        assert(comparable(page) == comparable(other), s"$page instead of $other")
      }

    private def comparable(page: Page) =
      (page.records.map(Records.comparable), page.next, page.millisBehindLatest, page.children)

    private val http = new CannedHttp
    private lazy val client = new AwsKinesisClient(http.client(), "nowhere", () => ())
  }

  /** Results that the decoder accepts are read as the SDK reads them. */
  object PutRecordsTarget extends FuzzTarget {
    private val shard = Gen.choose(0, 9).map(Generators.shardId)

    override val examples: Gen[Array[Byte]] = for {
      written <- Gen.choose(0, 5).flatMap(Gen.listOfN(_, Gen.zip(shard, Generators.sequenceNumber)))
      failed <- Gen.choose(0, 3)
    } yield CborPages.written { out =>
      out.writeStartObject()
      out.writeNumberField("FailedRecordCount", failed)
      out.writeArrayFieldStart("Records")
      written.foreach { case (shard, number) =>
        out.writeStartObject()
        out.writeStringField("ShardId", shard.name)
        out.writeStringField("SequenceNumber", number.text)
        out.writeEndObject()
      }
      (0 until failed).foreach { _ =>
        out.writeStartObject()
        out.writeStringField("ErrorCode", "InternalFailure")
        out.writeStringField("ErrorMessage", "why")
        out.writeEndObject()
      }
      out.writeEndArray()
      out.writeEndObject()
    }

    override def fuzzerTestOneInput(bytes: Array[Byte]): Unit =
      PutRecordsDecoder.decode(bytes).foreach { results =>
        http.answer = bytes
        val said = sdk.putRecords(PutRecordsRequest.builder().streamName("orders").build())
        val others: Seq[PutResult] = said.records.asScala.map(AwsConversions.putResult).toSeq
        assert(results == others, s"$results instead of $others")
      }

    private val http = new CannedHttp
    private lazy val sdk = http.client()
  }

  /** A stream of events is read the same in one part and in two, or is corrupt. */
  object EventStreamTarget extends FuzzTarget {
    override val examples: Gen[Array[Byte]] = for {
      event <- EventStreams.anyEvent
      style <- EventStreams.anyStyle
      message = EventStreams.event(EventStreams.encoded(event, style))
      isRepeated <- Gen.oneOf(true, false)
    } yield if (isRepeated) message ++ EventStreams.initial else message

    override def fuzzerTestOneInput(bytes: Array[Byte]): Unit = {
      val (first, second) = bytes.splitAt(bytes.headOption.fold(0)(_ & 0xff))
      assert(read(bytes) == read(first, second), "the parts matter")
      val whole = message(bytes)
      assert(read(whole) == read(whole.take(bytes.length), whole.drop(bytes.length)))
    }

    /** One message with correct checksums, whose headers are the first bytes. */
    private def message(bytes: Array[Byte]) = {
      val headers = bytes.headOption.fold(0)(_ & 0x7f) min bytes.length
      val out = ByteBuffer.allocate(bytes.length + 16)
      out.putInt(out.capacity).putInt(headers).putInt(checksum(out)).put(bytes)
      out.putInt(checksum(out)).array
    }

    private def checksum(written: ByteBuffer): Int = {
      val sum = new CRC32
      sum.update(written.array, 0, written.position())
      sum.getValue.toInt
    }

    private def read(parts: Array[Byte]*) = {
      val messages = new EventMessages
      @tailrec
      def all(part: ByteBuffer, found: Vector[Seq[Byte]]): Vector[Seq[Byte]] =
        messages.next(part) match {
          case Some(message) => all(part, found :+ message.payload.toSeq)
          case None => found
        }
      try Some(parts.map(ByteBuffer.wrap).flatMap(all(_, Vector.empty)))
      catch { case _: EventMessages.Corrupt => None }
    }
  }

  /** An event is read as the fallback reads it, or left as it was. */
  object EventTarget extends FuzzTarget {
    override val examples: Gen[Array[Byte]] =
      Gen.zip(EventStreams.anyEvent, EventStreams.anyStyle).map { case (event, style) =>
        EventStreams.encoded(event, style)
      }

    override def fuzzerTestOneInput(bytes: Array[Byte]): Unit = {
      val message = new EventMessage(bytes ++ new Array[Byte](4), Map.empty, 0)
      EventFallback.reason(bytes): Unit
      val fallback = Try(EventFallback.decode(bytes))
      fallback.failed.foreach {
        case _: EventFallback.Unreadable => ()
        case e => throw e
      }
      (Try(EventDecoder.decode(message)), fallback) match {
        case (Success(Some(event)), Success(same)) => assert(comparable(event) == comparable(same))
        case (Success(None), _) =>
          assert(message.bytes.dropRight(4).toSeq == bytes.toSeq, "other bytes")
        case (Failure(e), _) if !e.isInstanceOf[EventFallback.Unreadable] => throw e
        case _ => () // the decoder skips what it does not need, and so it accepts more
      }
    }

    private def comparable(event: ShardEvent) = (
      event.records.map(Records.comparable),
      event.continuation,
      event.millisBehindLatest,
      event.children
    )
  }

  private object Records {
    def comparable(it: Record): Product =
      (it.sequenceNumber.text, it.partitionKey, it.data.toSeq, it.arrivalMillis, it.encryptionType)
  }
}

package sparkkinesis.spark.payload {

  import org.scalacheck.Gen

  import sparkkinesis.FuzzTarget

  /** Data of a record give a value within its bound, or a reason. */
  object PayloadTarget extends FuzzTarget {
    override def examples: Gen[Array[Byte]] = HostileBytesSuite.valid
    override def fuzzerTestOneInput(bytes: Array[Byte]): Unit = HostileBytesSuite.check(bytes, 5000)
  }
}

package sparkkinesis.spark.once {

  import java.nio.charset.StandardCharsets.UTF_8

  import org.scalacheck.Gen

  import sparkkinesis.FuzzTarget
  import sparkkinesis.FuzzTargets.utf8

  /** A file of the sink's log is read, and can be written again, or is incomplete. */
  object AttemptTarget extends FuzzTarget {
    override val examples: Gen[Array[Byte]] = Gen
      .oneOf(
        Attempt.lines(7, "content", "folder", "incarnation", 1, 1700000000123L, "owner"),
        Attempt.lines("content", 1700000000123L, 12, -34)
      )
      .map(utf8)

    override def fuzzerTestOneInput(bytes: Array[Byte]): Unit = {
      val text = new String(bytes, UTF_8)
      Attempt.parse(7, text).foreach(it => assert(Attempt.parse(7, it.text).contains(it), text))
      CompletedWrite.parse(text).foreach(it => assert(CompletedWrite.parse(it.text).contains(it)))
      Attempt.numberOf(text): Unit
    }
  }
}
