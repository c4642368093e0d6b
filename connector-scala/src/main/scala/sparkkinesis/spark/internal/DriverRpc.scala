package org.apache.spark.sparkkinesis

import scala.concurrent.Future
import scala.concurrent.duration.FiniteDuration
import scala.util.control.NonFatal

import org.apache.spark.SparkEnv
import org.apache.spark.rpc._

/**
 * The driver's end of Spark's RPC, which needs no configuration. Messages are bytes: see
 * [[Messages]].
 */
object DriverRpc {

  /**
   * Answers executors until closed. Spark's RPC threads call the functions, one at a time.
   *
   * @param answer from the sender's address and the question
   * @param onLost receives the address of a sender that has disconnected
   */
  def serve(
      name: String
  )(answer: (String, Array[Byte]) => Array[Byte])(onLost: String => Unit): AutoCloseable = {
    val env = SparkEnv.get.rpcEnv
    val endpoint = new ThreadSafeRpcEndpoint {
      override val rpcEnv: RpcEnv = env

      override def receiveAndReply(context: RpcCallContext): PartialFunction[Any, Unit] = {
        case question: Array[Byte] =>
          try context.reply(answer(String.valueOf(context.senderAddress), question))
          catch { case NonFatal(e) => context.sendFailure(new RuntimeException(e.toString)) }
      }

      override def onDisconnected(remoteAddress: RpcAddress): Unit = onLost(
        String.valueOf(remoteAddress)
      )
    }
    val ref = env.setupEndpoint(name, endpoint)
    () => env.stop(ref)
  }
}

/**
 * The executor's end: a link to one endpoint of the driver. Looks the endpoint up once, and again
 * after a failure.
 *
 * @param timeout for a look-up, and for an answer
 */
final class DriverLink(
    name: String,
    timeout: FiniteDuration,
    lookup: (SparkEnv, String) => Future[RpcEndpointRef] = DriverLink.lookup
) {
  private val limit = new RpcTimeout(timeout, "spark-kinesis (no setting)")
  @volatile private var known = Option.empty[RpcEndpointRef]

  /**
   * The driver's answer; `None` if the endpoint has closed.
   *
   * @throws org.apache.spark.SparkException if the driver does not answer in time
   */
  def ask(question: Array[Byte]): Option[Array[Byte]] = {
    val env = SparkEnv.get
    if (env == null || env.isStopped) None
    else
      try {
        val driver = known.getOrElse(limit.awaitResult(lookup(env, name)))
        known = Some(driver)
        Some(driver.askSync[Array[Byte]](question, limit))
      } catch {
        case NonFatal(e) =>
          known = None
          if (DriverLink.isGone(e)) None else throw e
      }
  }
}

object DriverLink {

  /** Spark's own look-up waits two minutes for a driver that does not answer. */
  private def lookup(env: SparkEnv, name: String): Future[RpcEndpointRef] = {
    val host = env.conf.get("spark.driver.host", "localhost")
    val address = RpcAddress(host, env.conf.getInt("spark.driver.port", 7077))
    env.rpcEnv.asyncSetupEndpointRefByURI(RpcEndpointAddress(address, name).toString)
  }

  /** Spark's exception classes are private, and a closed endpoint shows only in a message. */
  private def isGone(e: Throwable): Boolean =
    Iterator.iterate(e)(_.getCause).takeWhile(_ != null).exists { cause =>
      GoneClasses(cause.getClass.getSimpleName) ||
      Option(cause.getMessage).exists(_.startsWith("Could not find"))
    }

  private val GoneClasses = Set("RpcEndpointNotFoundException", "RpcEnvStoppedException")
}
