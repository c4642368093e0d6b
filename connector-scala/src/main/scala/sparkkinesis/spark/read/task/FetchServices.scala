package sparkkinesis.spark.read.task

import org.apache.spark.sparkkinesis.Executors

import sparkkinesis.client.SystemClock
import sparkkinesis.shard.FetchMemory
import sparkkinesis.source.fetch.FetchService
import sparkkinesis.source.protocol._

/** The fetch services of this JVM, one per query run. Safe for many threads. */
private[sparkkinesis] object FetchServices {
  private val services = new PerRun[FetchService](_.isRunning)
  private val spill = new DiskSpill(SystemClock)

  /** The run's service in this JVM. Starts the service if none is running. */
  def ensure(run: QueryRun): FetchService = services.ensure(run.id) {
    start(run, new DriverHeartbeats(run.id), service => services.ended(run.id)(_ eq service))
  }

  /** Number of services that have not ended. A service that ends drops its pages. */
  def count: Int = services.count

  /**
   * Starts a service of a run in this JVM.
   *
   * @param onClose called with the service when it has closed
   * @param onReport see [[FetchService]]
   */
  private[read] def start(
      run: QueryRun,
      link: HeartbeatLink,
      onClose: FetchService => Unit,
      onReport: FetchReport => Unit = _ => ()
  ): FetchService = {
    val (executor, host) = Executors.own
    val loans = StreamLoans.borrowAll(run.streams, run.retention, run.consumers)
    def giveBack(): Unit = loans.values.foreach(_.close())
    lazy val service: FetchService = new FetchService(
      executor,
      host,
      loans.transform((_, loan) => loan.value),
      () =>
        try onClose(service)
        finally giveBack(),
      run.options.fetch,
      link,
      SystemClock,
      FetchMemory.ofJvm,
      spill,
      onReport
    )
    var created = Option.empty[FetchService]
    try {
      created = Some(service)
      service.start()
    } catch {
      case e: Throwable =>
        try created.foreach(_.close())
        finally giveBack()
        throw e
    }
  }
}
