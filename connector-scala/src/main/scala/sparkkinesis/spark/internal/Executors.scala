package org.apache.spark.sparkkinesis

import scala.util.Failure

import org.apache.spark.rdd.RDD
import org.apache.spark.scheduler.ExecutorCacheTaskLocation
import org.apache.spark.storage.{BlockId, RDDBlockId}
import org.apache.spark.{FutureAction, SparkContext, SparkEnv}

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

  /** Whether Spark ends executors that have nothing to do. */
  def comeAndGo(context: SparkContext): Boolean =
    context.conf.getBoolean("spark.dynamicAllocation.enabled", false)

  /** A location that Spark prefers over every other task's wait: this very executor. */
  def location(host: String, executor: String): String =
    ExecutorCacheTaskLocation(host, executor).toString

  /**
   * Submits a task for each of the executors, or for any where none is named. A preference only: where
   * an executor is busy, its task may run on another. To be called from the query's thread, whose
   * classes and files the tasks then see.
   *
   * @param name what the UI shows
   * @param keep leaves a cached block behind, which keeps dynamic allocation from ending executors
   *   whose tasks are short
   */
  def submit(context: SparkContext, executors: Map[String, String], name: String, keep: Boolean)(
      task: () => Unit
  ): SubmittedJob = {
    val places = executors.toSeq.map { case (id, host) => Seq(location(host, id)) }
    val seeds = if (places.isEmpty) Seq(0 -> Seq.empty[String]) else places.zipWithIndex.map(_.swap)
    val rdd = context.makeRDD(seeds).map { seed =>
      task()
      seed
    }
    rdd.setName(name)
    if (keep) rdd.persist()
    val description = context.getLocalProperty(SparkContext.SPARK_JOB_DESCRIPTION)
    context.setJobDescription(name)
    try new SubmittedJob(rdd, rdd.countAsync())
    finally context.setJobDescription(description)
  }
}

/** A job that runs, or has run, beside the thread that submitted it. */
final class SubmittedJob(rdd: RDD[Int], action: FutureAction[Long]) {
  def isRunning: Boolean = !action.isCompleted

  /** What ended it before its time. */
  def failure: Option[Throwable] = action.value.collect { case Failure(e) => e }

  /** Whether an executor still holds a block of it. */
  def isKept: Boolean = {
    val blocks = rdd.partitions.map(partition => RDDBlockId(rdd.id, partition.index): BlockId)
    rdd.context.env.blockManager.master.getLocations(blocks).exists(_.nonEmpty)
  }

  /** Ends it where it still runs, and frees what it keeps. Where Spark has stopped, both are gone. */
  def close(): Unit =
    if (!rdd.context.isStopped) {
      action.cancel()
      if (rdd.getStorageLevel.isValid) rdd.unpersist(blocking = false): Unit
    }
}
