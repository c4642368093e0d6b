package sparkkinesis.spark

import org.scalatest.Suite
import org.scalatest.concurrent.Eventually
import org.scalatest.time.{Millis, Seconds, Span}

import org.apache.spark.{SparkConf, SparkContext}

import sparkkinesis.TemporaryFolders

/** One Spark for a suite, with a single slot. */
trait LocalSpark extends TemporaryFolders with Eventually { this: Suite =>
  implicit override val patienceConfig: PatienceConfig =
    PatienceConfig(Span(30, Seconds), Span(20, Millis))

  protected def settings: Map[String, String] = Map.empty
  protected var context: SparkContext = _

  override protected def beforeAll(): Unit = {
    val conf = new SparkConf().setMaster("local[1]").setAppName(suiteName)
    context = new SparkContext(conf.set("spark.ui.enabled", "false").setAll(settings))
  }

  override protected def afterAll(): Unit =
    try context.stop()
    finally super.afterAll()
}
