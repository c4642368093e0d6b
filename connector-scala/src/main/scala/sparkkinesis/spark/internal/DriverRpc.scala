package org.apache.spark.sparkkinesis

import scala.concurrent.duration.FiniteDuration
import scala.util.control.NonFatal

import org.apache.spark.rpc._
import org.apache.spark.util.RpcUtils
import org.apache.spark.{SparkConf, SparkEnv}

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

  /**
   * Asks the driver. `None` where it serves that name no more.
   *
   * @throws org.apache.spark.SparkException where it did not answer in time
   */
  def ask(name: String, question: Array[Byte], timeout: FiniteDuration): Option[Array[Byte]] = {
    val env = SparkEnv.get
    if (env == null || env.isStopped) None
    else
      try {
        val ref = RpcUtils.makeDriverRef(name, env.conf, env.rpcEnv)
        Some(ref.askSync[Array[Byte]](question, new RpcTimeout(timeout, "spark.rpc.askTimeout")))
      } catch { case NonFatal(e) if isGone(e) => None }
  }

  /** Spark's own names for it are private, and an ended endpoint has only words. */
  private def isGone(e: Throwable): Boolean =
    Iterator.iterate(e)(_.getCause).takeWhile(_ != null).exists { cause =>
      GoneClasses(cause.getClass.getSimpleName) ||
      Option(cause.getMessage).exists(_.startsWith("Could not find"))
    }

  private val GoneClasses = Set("RpcEndpointNotFoundException", "RpcEnvStoppedException")

  /** For settings that only Spark's own code may read. */
  def conf: SparkConf = SparkEnv.get.conf
}
