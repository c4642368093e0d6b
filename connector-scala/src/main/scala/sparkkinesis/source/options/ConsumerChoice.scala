package sparkkinesis.source.options

import sparkkinesis.client.StreamAccess
import sparkkinesis.client.options.{OptionException, Options}
import sparkkinesis.model.{ConsumerArn, StreamRef}

/** How shards are read ahead. */
sealed trait ConsumerChoice {
  def isFanOut: Boolean = this != ConsumerChoice.Polling
}

object ConsumerChoice {

  /** The query reads with `GetRecords`. */
  case object Polling extends ConsumerChoice

  /** The query reads by enhanced fan-out, with a consumer of this name in each stream. */
  final case class Named(name: String) extends ConsumerChoice

  /** The query reads by enhanced fan-out, with one of these consumers per stream. */
  final case class Given(arns: Seq[ConsumerArn]) extends ConsumerChoice

  private[options] val Names = Seq("consumerMode", "consumerName", "consumerArn")

  /** @throws OptionException if an option is invalid, missing or in conflict with another */
  private[options] def parse(options: Options, streams: Seq[StreamAccess]): ConsumerChoice = {
    val set = Seq("consumerName", "consumerArn").filter(options.contains)
    options.text("consumerMode").map(_.toLowerCase).getOrElse("polling") match {
      case "polling" =>
        set.headOption.foreach { name =>
          throw OptionException.conflicting(
            s"Option ${options.named(name)} is set, but 'consumerMode' is 'polling'. Set " +
              "'consumerMode' to 'efo' to read by enhanced fan-out, or remove the option."
          )
        }
        Polling
      case "efo" =>
        set match {
          case Seq() =>
            throw OptionException.missing(
              "'consumerMode' is 'efo', and no consumer is set. Set 'consumerName', and the " +
                "query registers the consumer if it does not exist, or set 'consumerArn'."
            )
          case Seq("consumerName") => named(options)
          case Seq("consumerArn") => byArn(options, streams)
          case _ =>
            throw OptionException.conflicting(
              s"Both ${options.named("consumerName")} and ${options.named("consumerArn")} are " +
                "set. Set only one of them."
            )
        }
      case _ =>
        throw options.invalid("consumerMode", "polling or efo", "Set one of the two.")
    }
  }

  private def named(options: Options): Named = {
    val name = options.text("consumerName").mkString
    if (!ConsumerArn.isName(name))
      throw options.invalid("consumerName", "1 to 128 of a-z, A-Z, 0-9, _ . -", "Correct the name.")
    Named(name)
  }

  /** The choice of consumers by their ARNs, one per stream. */
  private def byArn(options: Options, streams: Seq[StreamAccess]): Given = {
    val arns = options.texts("consumerArn").map { text =>
      ConsumerArn.parse(text).getOrElse {
        throw options.invalid(
          "consumerArn",
          "an ARN such as " +
            "arn:aws:kinesis:eu-west-1:123456789012:stream/orders/consumer/app:1700000000",
          s"Correct '$text'. 'aws kinesis list-stream-consumers' shows the ARNs."
        )
      }
    }
    streams.foreach { stream =>
      val count = arns.count(isOf(_, stream))
      if (count != 1)
        throw options.invalid(
          "consumerArn",
          "one consumer of each stream",
          s"Stream ${stream.ref} has $count of them."
        )
    }
    arns.find(arn => !streams.exists(isOf(arn, _))).foreach { foreign =>
      throw options.invalid(
        "consumerArn",
        "consumers of the streams that the query reads",
        s"Remove $foreign, or add its stream."
      )
    }
    Given(arns)
  }

  private def isOf(consumer: ConsumerArn, stream: StreamAccess): Boolean = stream.ref match {
    case StreamRef.ByArn(arn) => consumer.stream == arn
    case StreamRef.ByName(name) =>
      consumer.stream.name == name && consumer.stream.region == stream.client.region
  }
}
