package sparkkinesis.source.simulation.realtime

import scala.concurrent.duration._

import sparkkinesis.source.simulation.World
import sparkkinesis.spark.read.realtime.RealTimePartition

/**
 * The executors of a query in real-time mode, and their slots. At first there is one.
 *
 * @param named number of streams that the query names
 */
final class LiveCluster(world: World, named: Int) {
  import world._

  private var executors = Vector.empty[LiveExecutor]
  private var lost = Vector.empty[(LiveExecutor, java.time.Instant)] // the driver will know then
  private var started = 0
  private var attempts = 0L
  private var others = 0 // slots that other queries use
  private var job = Option.empty[LiveJob]
  private var zombies = Vector.empty[LiveAttempt] // that Spark has given up, and that run on
  val driver = new LiveDriver(world, named, () => (executors ++ lost.map(_._1)).map(_.slots).sum)
  add()

  def add(): Unit = if (executors.size < 3) {
    started += 1
    executors :+= new LiveExecutor(s"executor-$started", 1 + random.nextInt(3), world, driver)
  }

  /** The driver finds out at once, or a few seconds later. */
  def lose(): Unit = executors.headOption.foreach { gone =>
    executors = executors.tail
    lost :+= gone -> clock.now.plusMillis(random.nextInt(2) * random.nextInt(5000).toLong)
    job.foreach(_.lose(gone))
    zombies = zombies.filter(_.executor ne gone)
    if (executors.isEmpty) add()
  }

  /** Spark gives up an attempt, which does not notice for a while. */
  def abandon(): Unit = zombies ++= job.flatMap(_.abandon())

  def occupySlots(): Unit = others = random.nextInt(3)

  def any: LiveExecutor = executors(random.nextInt(executors.size))

  def nextAttempt(): Long = {
    attempts += 1
    attempts
  }

  /** An executor with a free slot: usually that which has read the shards. */
  def slotFor(partition: RealTimePartition): Option[LiveExecutor] = {
    val running = job.fold(0)(_.running)
    val all = executors.map(_.slots).sum
    if (running >= math.max(1, all - others)) None
    else {
      val free = executors.filter(it => job.forall(_.runningOn(it) < it.slots))
      val preferred = free.filter(it => partition.locations.contains(it.id))
      val chosen = if (random.nextInt(5) == 0 || preferred.isEmpty) free else preferred
      Option.when(chosen.nonEmpty)(chosen(random.nextInt(chosen.size)))
    }
  }

  def run(job: LiveJob): Unit = this.job = Some(job)

  def current: Option[LiveJob] = job

  def finish(): Unit = job = None

  /** Some time passes, and all that run do something. */
  def step(passed: FiniteDuration): Unit = {
    clock.advance(passed)
    if (driver.isRunning) {
      val (known, unknown) = lost.partition(!_._2.isAfter(clock.now))
      lost = unknown
      known.foreach { case (executor, _) => driver.lost(executor.id) }
      driver.work()
      job.foreach(_.schedule(passed))
    }
    random.shuffle(executors).foreach(_.work())
    job.foreach(_.work())
    val (going, over) = zombies.partition(runsOn)
    zombies = going
    over.foreach(_.fail())
  }

  private def runsOn(zombie: LiveAttempt) =
    try {
      zombie.read(random.nextInt(5)): Unit
      random.nextInt(20) > 0
    } catch { case _: IllegalStateException => false }

  /** Whether no executor reads any more. */
  def isIdle: Boolean = executors.forall(_.isIdle)

  override def toString: String =
    s"${executors.mkString(", ")}; $others slots are used by others; $job"
}
