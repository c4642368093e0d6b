package sparkkinesis.spark.metrics

import java.util.concurrent.ConcurrentHashMap
import java.util.function.Supplier
import java.util.{Map => JMap}

import scala.jdk.CollectionConverters._
import scala.util.control.NonFatal

import org.slf4j.LoggerFactory

import sparkkinesis.client.SystemClock
import sparkkinesis.shard.SharedMap

/**
 * The sources of the running queries of this driver. Spark publishes the progress of a batch after
 * the batch. Code that must know earlier how late a query is asks here, also in another class
 * loader. Safe for many threads.
 */
private[sparkkinesis] object LiveSources {
  private val log = LoggerFactory.getLogger(getClass)
  private val MaxAgeMillis = 1000L

  /** By the run's ID and the source's number. */
  private val sources = SharedMap.ofJvm(
    "LiveSources",
    new ConcurrentHashMap[String, JMap[Integer, Supplier[JMap[String, String]]]]
  )
  private val watchers =
    SharedMap.ofJvm("LiveSourcesWatchers", new ConcurrentHashMap[String, JMap[Runnable, Runnable]])

  /**
   * A source of a query runs, until the result is closed.
   *
   * @param run ID of the query's run
   * @param number of the source in the query
   * @param read its metrics now, by [[SourceProgress]]; called at most once per second
   */
  private[spark] def join(
      run: String,
      number: Int,
      read: () => Map[String, String]
  ): AutoCloseable = {
    val leave = put(sources, run, Integer.valueOf(number), new Source(read))
    Option(watchers.get(run)).foreach(_.keySet.forEach(notify(_)))
    leave
  }

  /** What is published must not stop the query. */
  private def notify(watcher: Runnable): Unit =
    try watcher.run()
    catch { case NonFatal(e) => log.warn("The metrics of a source could not be published.", e) }

  /** Calls `watcher` when a source of the run begins, until the result is closed. */
  private[spark] def watch(run: String)(watcher: Runnable): AutoCloseable =
    put(watchers, run, watcher, watcher)

  /** The numbers of the sources of a run. */
  private[spark] def numbers(run: String): Set[Int] =
    known(run).keySet.asScala.map(_.intValue).toSet

  /** The metrics of each source of a run, by its number in the query, at most a second old. */
  def metrics(run: String): JMap[Integer, JMap[String, String]] = {
    val found = new ConcurrentHashMap[Integer, JMap[String, String]]
    known(run).forEach((number, source) => found.put(number, source.get()): Unit)
    found
  }

  private def known(run: String) =
    sources.getOrDefault(run, new ConcurrentHashMap[Integer, Supplier[JMap[String, String]]])

  /** What is in the map keeps its class loader alive, so it leaves with its run. */
  private def put[K, V](
      all: ConcurrentHashMap[String, JMap[K, V]],
      run: String,
      key: K,
      value: V
  ): AutoCloseable = {
    all.compute(
      run,
      (_, before) => {
        val ofRun = if (before == null) new ConcurrentHashMap[K, V] else before
        ofRun.put(key, value)
        ofRun
      }
    )
    () =>
      all.computeIfPresent(
        run,
        (_, ofRun) => {
          ofRun.remove(key, value)
          if (ofRun.isEmpty) null else ofRun
        }
      ): Unit
  }

  private final class Source(read: () => Map[String, String])
      extends Supplier[JMap[String, String]] {
    private var last = Option.empty[(Long, JMap[String, String])]

    override def get(): JMap[String, String] = synchronized {
      val now = SystemClock.elapsedMillis
      val current = last.filter(now - _._1 < MaxAgeMillis).getOrElse(now -> read().asJava)
      last = Some(current)
      current._2
    }
  }
}
