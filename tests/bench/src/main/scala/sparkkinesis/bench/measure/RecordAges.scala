package sparkkinesis.bench.measure

import java.util.concurrent.ConcurrentLinkedQueue

import scala.jdk.CollectionConverters._

import sparkkinesis.bench.report.Samples

/** How old records were when they were seen; for many threads. */
final class RecordAges {
  private val seen = new ConcurrentLinkedQueue[java.lang.Double]

  def see(data: Array[Byte]): Unit = {
    seen.add(Producer.age(data))
    ()
  }

  def size: Int = seen.size

  /** All so far, which are forgotten. */
  def take(): Samples = {
    val all = Samples(seen.asScala.map(_.doubleValue).toSeq)
    seen.clear()
    all
  }
}
