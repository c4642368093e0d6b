package sparkkinesis.bench.measure

import java.util.concurrent.ConcurrentLinkedQueue

import scala.jdk.CollectionConverters._

import sparkkinesis.bench.report.Samples

/** The ages of records when the query or the loop received them. For many threads. */
final class RecordAges {
  private val seen = new ConcurrentLinkedQueue[java.lang.Double]

  def see(data: Array[Byte]): Unit = {
    seen.add(Producer.age(data))
    ()
  }

  def size: Int = seen.size

  /** Returns and removes all ages. */
  def take(): Samples = {
    val all = Samples(seen.asScala.map(_.doubleValue).toSeq)
    seen.clear()
    all
  }
}
