package sparkkinesis.spark.read.checkpoint

import org.apache.hadoop.conf.Configuration

import org.apache.spark.SparkContext
import org.apache.spark.sql.internal.SQLConf

/** How files are reached. */
private[spark] object SessionFiles {

  /** Configuration of the cluster and of the session that plans, as in Spark's own sinks. */
  def conf(): Configuration = {
    val conf = new Configuration(SparkContext.getOrCreate().hadoopConfiguration)
    SQLConf.get.getAllConfs.foreach { case (name, value) => conf.set(name, value) }
    conf
  }
}
