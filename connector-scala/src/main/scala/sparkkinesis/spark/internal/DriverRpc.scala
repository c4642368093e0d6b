package org.apache.spark.sparkkinesis

import scala.concurrent.Future
import scala.concurrent.duration.FiniteDuration
import scala.util.control.NonFatal

import org.apache.spark.SparkEnv
import org.apache.spark.rpc._

/**
 * Spark's own RPC between executors and the driver, which needs no configuration.
 *
 * Only bytes travel: a class of the connector's jar in a message would end an executor whose start-up
 * class path lacks it.
 */
object DriverRpc {

  /**
   * Answers executors until closed.
   *
   * @param answer of the sender's address and the question
   * @param onLost of the address of a sender that has gone
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
 * An executor's way to one name that the driver serves: looked up once, and again after a failure.
 *
 * @param timeout of a look-up and of an answer, each
 */
final class DriverLink(
    name: String,
    timeout: FiniteDuration,
    lookup: (SparkEnv, String) => Future[RpcEndpointRef] = DriverLink.lookup
) {
  private val limit = new RpcTimeout(timeout, "spark-kinesis, not by a setting")
  @volatile private var known = Option.empty[RpcEndpointRef]

  /**
   * The driver's answer; `None` where it serves that name no more.
   *
   * @throws org.apache.spark.SparkException where it did not answer in time
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

  /** Spark's own way to do so waits two minutes for a driver that does not answer. */
  private def lookup(env: SparkEnv, name: String): Future[RpcEndpointRef] = {
    val host = env.conf.get("spark.driver.host", "localhost")
    val address = RpcAddress(host, env.conf.getInt("spark.driver.port", 7077))
    env.rpcEnv.asyncSetupEndpointRefByURI(RpcEndpointAddress(address, name).toString)
  }

  /** Spark's own names for it are private, and an ended endpoint has only words. */
  private def isGone(e: Throwable): Boolean =
    Iterator.iterate(e)(_.getCause).takeWhile(_ != null).exists { cause =>
      GoneClasses(cause.getClass.getSimpleName) ||
      Option(cause.getMessage).exists(_.startsWith("Could not find"))
    }

  private val GoneClasses = Set("RpcEndpointNotFoundException", "RpcEnvStoppedException")
}
