package sparkkinesis.spark.once

import org.apache.spark.{SparkConf, SparkEnv, TaskContext}

/** Tells whether Spark runs a task several times. On driver and executors. */
private[spark] object TaskAttempts {

  /** Whether Spark runs copies of slow tasks. The context decides, not the session. */
  def areCopied(conf: SparkConf = contextConf): Boolean =
    conf.getBoolean("spark.speculation", false)

  /** Whether another attempt may have written rows of the running task. */
  def isRepeated: Boolean = Option(TaskContext.get()).exists { task =>
    isRepeated(task.attemptNumber(), task.stageAttemptNumber(), contextConf)
  }

  /** @param stageAttempt counted from zero, like the attempt of the task */
  def isRepeated(attempt: Int, stageAttempt: Int, conf: SparkConf): Boolean =
    attempt > 0 || stageAttempt > 0 || areCopied(conf)

  private def contextConf: SparkConf = Option(SparkEnv.get).fold(new SparkConf(false))(_.conf)
}
