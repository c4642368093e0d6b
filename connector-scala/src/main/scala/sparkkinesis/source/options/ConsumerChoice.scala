package sparkkinesis.source.options

import sparkkinesis.client.StreamAccess
import sparkkinesis.client.options.{OptionException, Options}
import sparkkinesis.model.{ConsumerArn, StreamRef}
import sparkkinesis.source.options.SourceTable.{ConsumerArns, ConsumerMode, ConsumerName}

/** How shards are read ahead. */
private[sparkkinesis] sealed trait ConsumerChoice {
  def isFanOut: Boolean = this != ConsumerChoice.Polling
}

private[sparkkinesis] object ConsumerChoice {

  /** The query reads with `GetRecords`. */
  case object Polling extends ConsumerChoice

  /** The query reads by enhanced fan-out, with a consumer of this name in each stream. */
  final case class Named(name: String) extends ConsumerChoice

  /** The query reads by enhanced fan-out, with one of these consumers per stream. */
  final case class Given(arns: Seq[ConsumerArn]) extends ConsumerChoice

  /** @throws OptionException if an option is invalid, missing or in conflict with another */
  private[options] def parse(options: Options, streams: Seq[StreamAccess]): ConsumerChoice = {
    val set = Seq(ConsumerName, ConsumerArns).filter(options.contains)
    options(ConsumerMode) match {
      case "polling" =>
        set.headOption.foreach { option =>
          throw OptionException.conflicting(
            s"Option '${option.name}' is set, but 'consumerMode' is 'polling'. Set " +
              "'consumerMode' to 'efo' to read by enhanced fan-out, or remove the option."
          )
        }
        Polling
      case _ =>
        (options.get(ConsumerName), options.get(ConsumerArns)) match {
          case (None, None) =>
            throw OptionException.missing(
              "'consumerMode' is 'efo', and no consumer is set. Set 'consumerName', and the " +
                "query registers the consumer if it does not exist, or set 'consumerArn'."
            )
          case (Some(name), None) => Named(name)
          case (None, Some(arns)) => byArn(options, arns, streams)
          case _ =>
            throw OptionException.conflicting(
              "Both 'consumerName' and 'consumerArn' are set. Set only one of them."
            )
        }
    }
  }

  /** The choice of consumers by their ARNs, one per stream. */
  private def byArn(options: Options, texts: Seq[String], streams: Seq[StreamAccess]): Given = {
    val arns = texts.map { text =>
      ConsumerArn.parse(text).getOrElse {
        throw options.invalid(
          ConsumerArns,
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
          ConsumerArns,
          "one consumer of each stream",
          s"Stream ${stream.ref} has $count of them."
        )
    }
    arns.find(arn => !streams.exists(isOf(arn, _))).foreach { foreign =>
      throw options.invalid(
        ConsumerArns,
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
