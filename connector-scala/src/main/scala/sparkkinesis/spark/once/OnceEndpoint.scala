package sparkkinesis.spark.once

import org.apache.spark.sparkkinesis.{DriverRpc, Messages}

import sparkkinesis.sink.once.{WriterAnswer, WriterAsk}
import sparkkinesis.source.protocol.ProtocolVersion

/** The driver's end of the tasks' questions. */
private[once] object OnceEndpoint {

  /** Answers until closed. Spark's RPC threads call the function, one at a time. */
  def serve(name: String)(answer: WriterAsk => WriterAnswer): AutoCloseable =
    DriverRpc.serve(name) { (_, question) =>
      val ask = Messages.decode[WriterAsk](question, ProtocolVersion.Current)
      Messages.encode(answer(ask), ProtocolVersion.Current)
    }(_ => ())
}
