package org.apache.spark.sparkkinesis

import org.apache.spark.rdd.RDD
import org.apache.spark.scheduler.ExecutorCacheTaskLocation
import org.apache.spark.{SparkContext, SparkEnv}

/** Which executors there are, and how to reach each of them. */
object Executors {

  /** This JVM's id and host, as Spark's scheduler names them. */
  def own: (String, String) = {
    val id = SparkEnv.get.blockManager.blockManagerId
    (id.executorId, id.host)
  }

  /** Id and host of each executor; the driver itself in local mode. */
  def all(context: SparkContext): Map[String, String] = {
    val ids = context.env.blockManager.master.getMemoryStatus.keys
    val wanted = if (context.isLocal) ids else ids.filterNot(_.isDriver)
    wanted.map(id => id.executorId -> id.host).toMap
  }

  /** A location that Spark prefers over every other task's wait: this very executor. */
  def location(host: String, executor: String): String =
    ExecutorCacheTaskLocation(host, executor).toString

  /**
   * Runs a task on each of the executors, or on any where none is named, and waits for it.
   *
   * @param keep leaves a cached block behind, which keeps dynamic allocation from ending executors
   *   whose tasks are short
   * @return to be unpersisted where kept
   */
  def runOn(context: SparkContext, executors: Map[String, String], keep: Boolean)(
      task: () => Unit
  ): RDD[Int] = {
    val places = executors.toSeq.map { case (id, host) => Seq(location(host, id)) }
    val seeds = if (places.isEmpty) Seq(0 -> Seq.empty[String]) else places.zipWithIndex.map(_.swap)
    val rdd = context.makeRDD(seeds).map { seed =>
      task()
      seed
    }
    rdd.setName("spark-kinesis: fetchers start here")
    if (keep) rdd.persist()
    rdd.count()
    rdd
  }
}
