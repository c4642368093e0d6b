package sparkkinesis.spark.read

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sparkkinesis.Executors

import sparkkinesis.spark.LocalSpark

/** The blocks that prevent dynamic allocation from ending executors. */
class KeptExecutorsSuite extends AnyFunSuite with LocalSpark {
  private def submit(keep: Boolean) =
    Executors.submit(context, Executors.all(context), "spark-kinesis: test", keep)(() => ())

  test("each job keeps a block until it is closed, and closing another job does not free it") {
    val (first, second) = (submit(keep = true), submit(keep = true))
    eventually(assert(!first.isRunning && !second.isRunning))
    assert(first.holdsBlocks && second.holdsBlocks && context.getPersistentRDDs.size === 2)
    second.close()
    eventually(assert(!second.holdsBlocks && first.holdsBlocks))
    first.close()
    eventually(assert(!first.holdsBlocks && context.getPersistentRDDs.isEmpty))
  }

  test("without dynamic allocation no block is kept") {
    val job = submit(keep = false)
    eventually(assert(!job.isRunning))
    assert(!job.holdsBlocks && job.failure.isEmpty && context.getPersistentRDDs.isEmpty)
  }

  test("the failure of a job is reported") {
    val job = Executors.submit(context, Map.empty, "spark-kinesis: test", keep = false) { () =>
      throw new IllegalStateException("no region")
    }
    eventually(assert(job.failure.exists(_.getMessage.contains("no region"))))
  }

  // A query may look for executors while its session ends. Spark then has no block manager to ask.
  test("after Spark has stopped, no executor holds a block") {
    val job = submit(keep = true)
    eventually(assert(job.holdsBlocks))
    context.stop()
    assert(!job.holdsBlocks)
    job.close()
  }
}
