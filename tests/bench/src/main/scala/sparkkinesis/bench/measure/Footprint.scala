package sparkkinesis.bench.measure

import java.lang.management.ManagementFactory
import java.net.URI
import java.nio.file.{Files, Path, Paths}

import scala.jdk.CollectionConverters._

/**
 * What this process holds.
 *
 * @param heapBytes live bytes of all objects
 * @param connections open connections to a server, if the system shows them
 */
final case class Footprint(heapBytes: Double, threads: Double, connections: Option[Double]) {

  /** What came since then. */
  def since(before: Footprint): Footprint = Footprint(
    heapBytes - before.heapBytes,
    threads - before.threads,
    for (now <- connections; then <- before.connections) yield now - then
  )
}

object Footprint {
  private val Tables = Seq("/proc/net/tcp", "/proc/net/tcp6").map(Paths.get(_))
  private val Established = "01"

  def to(server: URI): Footprint = Footprint(
    HeapUse.own(),
    threads,
    connections(server.getPort)
  )

  def threads: Double = ManagementFactory.getThreadMXBean.getThreadCount.toDouble

  /** Linux lists the connections of the whole machine. Only ours go to the server's port. */
  private def connections(port: Int): Option[Double] = {
    val tables = Tables.filter(Files.isReadable)
    Option.when(tables.nonEmpty)(tables.map(count(_, port)).sum.toDouble)
  }

  private def count(table: Path, port: Int): Int =
    Files.readAllLines(table).asScala.drop(1).map(_.trim.split("\\s+")).count { columns =>
      columns(2).endsWith(f":$port%04X") && columns(3) == Established
    }
}
