package sparkkinesis.source.simulation.realtime

import sparkkinesis.source.simulation.World

/**
 * An executor of a query in real-time mode.
 *
 * @param slots how many tasks run on it at the same time
 */
final class LiveExecutor(val id: String, val slots: Int, world: World, driver: LiveDriver) {
  private var services = Vector.empty[LiveService]
  private var started = 0

  /** The newest service. Starts one if none is running. */
  def service(): LiveService = services.lastOption.filter(_.isRunning).getOrElse(newService())

  /** Starts another one beside it, as with a new class loader of a session. */
  def newService(): LiveService = {
    started += 1
    val service = new LiveService(id, started, world, driver)
    services :+= service
    service
  }

  def work(): Unit = {
    services.foreach(_.work())
    services = services.filter(_.isRunning)
  }

  def failForGood(): Unit = services.lastOption.foreach(_.failForGood())

  def isIdle: Boolean = services.isEmpty

  override def toString: String = s"$id with $slots slots: ${services.mkString(", ")}"
}
