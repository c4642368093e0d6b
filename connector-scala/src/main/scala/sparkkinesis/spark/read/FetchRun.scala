package sparkkinesis.spark.read

import java.io.{
  ByteArrayInputStream,
  ByteArrayOutputStream,
  ObjectInputStream,
  ObjectOutputStream,
  ObjectStreamClass
}
import java.util.concurrent.{ConcurrentHashMap, ThreadLocalRandom}

import scala.concurrent.duration._

import org.apache.spark.sparkkinesis.{DriverLink, Executors}

import sparkkinesis.client.aws.ClientPool
import sparkkinesis.client.{StreamAccess, SystemClock}
import sparkkinesis.model.StreamArn
import sparkkinesis.source.StreamClient
import sparkkinesis.source.fetch.FetchService
import sparkkinesis.source.options.SourceOptions
import sparkkinesis.source.protocol.{CoordinatorGone, FetchReply, FetchStatus}

/**
 * One run of a query, as its executors know it.
 *
 * @param id unique among all runs, and the name of the driver's endpoint
 * @param streams how each is reached
 */
final case class FetchRun(
    id: String,
    options: SourceOptions,
    streams: Map[StreamArn, StreamAccess]
)

/** This JVM's fetch services, one a query run. */
object FetchRun {
  private val services = new ConcurrentHashMap[String, FetchService]()
  private val AskTimeout = 10.seconds

  /** Evenly distributed in `[0, 1)`, for jitter. */
  val chance: () => Double = () => ThreadLocalRandom.current().nextDouble()

  /** The run's service in this JVM, started where there is none. */
  def ensure(run: FetchRun): FetchService =
    services.compute(
      run.id,
      (_, known) => Option(known).filter(_.isRunning).getOrElse(start(run))
    )

  /** How many query runs have a service here: one that has closed is forgotten, with its pages. */
  private[spark] def count: Int = services.size

  private def start(run: FetchRun): FetchService = {
    val (executor, host) = Executors.own
    val (arns, access) = run.streams.toSeq.unzip
    val leases = arns.zip(ClientPool.shared.borrowAll(access.map(_.client))).toMap
    val driver = new DriverLink(run.id, AskTimeout)
    lazy val service: FetchService = new FetchService(
      executor,
      host,
      leases.transform((arn, lease) => StreamClient(run.streams(arn).ref, lease.client)),
      () => {
        services.remove(run.id, service)
        leases.values.foreach(_.close())
      },
      run.options.fetch,
      status => heartbeat(driver, run.id, status),
      SystemClock,
      chance,
      () => count
    )
    service.start()
  }

  private def heartbeat(driver: DriverLink, id: String, status: FetchStatus): FetchReply =
    driver.ask(encode(status)) match {
      case Some(reply) => decode[FetchReply](reply)
      case None => throw new CoordinatorGone(s"the query run $id has ended")
    }

  private[spark] def encode(message: java.io.Serializable): Array[Byte] = {
    val bytes = new ByteArrayOutputStream()
    val out = new ObjectOutputStream(bytes)
    out.writeObject(message)
    out.close()
    bytes.toByteArray
  }

  /** With the class loader of this jar, whatever Spark's RPC uses. */
  private[spark] def decode[A](bytes: Array[Byte]): A = {
    val in = new ObjectInputStream(new ByteArrayInputStream(bytes)) {
      override def resolveClass(desc: ObjectStreamClass): Class[_] =
        Class.forName(desc.getName, false, FetchRun.getClass.getClassLoader)
    }
    in.readObject().asInstanceOf[A]
  }
}
