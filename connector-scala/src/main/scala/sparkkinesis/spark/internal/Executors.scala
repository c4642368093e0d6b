package org.apache.spark.sparkkinesis

import scala.util.Failure

import org.apache.spark.rdd.RDD
import org.apache.spark.scheduler.ExecutorCacheTaskLocation
import org.apache.spark.storage.{BlockId, RDDBlockId}
import org.apache.spark.{FutureAction, SparkConf, SparkContext, SparkEnv}

/** The executors of an application, and jobs on them. */
object Executors {

  /** Executor id and host of this JVM, as Spark's scheduler names them. */
  def own: (String, String) = {
    val id = SparkEnv.get.blockManager.blockManagerId
    (id.executorId, id.host)
  }

  /** Id and host of each executor. In local mode, the driver is the executor. */
  def all(context: SparkContext): Map[String, String] = {
    val ids = context.env.blockManager.master.getMemoryStatus.keys
    val wanted = if (context.isLocal) ids else ids.filterNot(_.isDriver)
    wanted.map(id => id.executorId -> id.host).toMap
  }

  /** How many tasks the application's executors can run at the same time. Private to Spark. */
  def slots(context: SparkContext): Int =
    context.maxNumConcurrentTasks(context.resourceProfileManager.defaultResourceProfile)

  /** Whether Spark ends idle executors. */
  def areDynamic(context: SparkContext): Boolean = areDynamic(context.conf)

  private def areDynamic(conf: SparkConf) =
    conf.getBoolean("spark.dynamicAllocation.enabled", false)

  /**
   * How many executors are expected to run so many tasks at the same time. Dynamic allocation adds
   * executors for tasks that wait.
   *
   * @param present executors that there are
   */
  def expected(present: Int, tasks: Int, conf: SparkConf): Int = {
    val slots =
      math.max(1, conf.getInt("spark.executor.cores", 1) / conf.getInt("spark.task.cpus", 1))
    val most = conf.getInt("spark.dynamicAllocation.maxExecutors", Int.MaxValue)
    val added = if (areDynamic(conf)) math.min((tasks + slots - 1) / slots, most) else 0
    math.max(1, math.min(math.max(present, added), tasks))
  }

  /** A preferred location that means this executor, and not only its host. */
  def location(host: String, executor: String): String =
    ExecutorCacheTaskLocation(host, executor).toString

  /**
   * Submits one task per executor, or one task anywhere if there is none. If an executor is busy,
   * its task may run on another one. Call it from the query's thread, so that the tasks see the
   * session's classes and files.
   *
   * @param name of the job in Spark's UI
   * @param keep leaves a cached block on the executor, so that dynamic allocation does not end it
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

/** A job that runs in the background. */
final class SubmittedJob(rdd: RDD[Int], action: FutureAction[Long]) {
  def isRunning: Boolean = !action.isCompleted

  /** The failure of the job, if it failed. */
  def failure: Option[Throwable] = action.value.collect { case Failure(e) => e }

  /** Whether an executor still holds a cached block of the job. None does if Spark has stopped. */
  def holdsBlocks: Boolean = !rdd.context.isStopped && {
    val blocks = rdd.partitions.map(partition => RDDBlockId(rdd.id, partition.index): BlockId)
    rdd.context.env.blockManager.master.getLocations(blocks).exists(_.nonEmpty)
  }

  /** Cancels the job and frees its blocks. Does nothing if Spark has stopped. */
  def close(): Unit =
    if (!rdd.context.isStopped) {
      action.cancel()
      if (rdd.getStorageLevel.isValid) rdd.unpersist(blocking = false): Unit
    }
}
