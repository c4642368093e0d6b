package org.apache.spark.sparkkinesis

import scala.annotation.tailrec
import scala.concurrent.duration._
import scala.util.control.NonFatal

import org.apache.spark.SparkContext
import org.apache.spark.sql.catalyst.plans.logical.{EventTimeWatermark, LogicalPlan}

/** The streaming query whose thread calls. */
object CurrentQuery {

  /** The ID of its run, which Spark makes the job group of the thread. */
  def run(context: SparkContext): Option[String] =
    Option(context.getLocalProperty("spark.jobGroup.id"))

  /**
   * The delays that the query allows its rows, one per `withWatermark`.
   *
   * The thread of a query is an inner class of `StreamExecution`, so its outer object has the plan.
   * Its package is another one since Spark 4.1. The plan is complete when Spark asks for the first
   * offset.
   *
   * @return `None` if this Spark does not show the plan of the query
   */
  def watermarkDelays(): Option[Seq[FiniteDuration]] =
    try
      outerOf(Thread.currentThread).map { query =>
        val plan = query.getClass.getMethod("logicalPlan").invoke(query).asInstanceOf[LogicalPlan]
        plan.collect { case it: EventTimeWatermark =>
          EventTimeWatermark.getDelayMs(it.delay).millis
        }
      }
    catch { case NonFatal(_) | _: LinkageError => None }

  private def outerOf(inner: AnyRef): Option[AnyRef] = {
    @tailrec
    def look(in: Class[_]): Option[AnyRef] =
      if (in == null) None
      else
        in.getDeclaredFields.find(_.getName == "$outer") match {
          case Some(field) =>
            field.setAccessible(true)
            Option(field.get(inner))
          case None => look(in.getSuperclass)
        }
    look(inner.getClass)
  }
}
