package io.openlineage.spark.extension

import org.slf4j.LoggerFactory

/**
 * The interface that OpenLineage's listener for Spark loads with a `ServiceLoader`. OpenLineage's
 * jar has the same one. A class loader that finds the connector and not OpenLineage needs this copy
 * to load [[KinesisLineage]]. Without it, OpenLineage fails.
 */
private[extension] trait OpenLineageExtensionProvider {

  /** Where a provider has its copy of OpenLineage's library for extensions. */
  def shadedPackage(): String

  /**
   * A class with the methods `isDefinedAt` and `apply`. By default, it is that of the library, as
   * in OpenLineage's interface: providers of other connectors may get this one.
   */
  def getVisitorClassName(): String =
    shadedPackage() + ".extension.v1.lifecycle.plan.SparkOpenLineageExtensionVisitor"
}

private[extension] final class KinesisLineage extends OpenLineageExtensionProvider {
  import KinesisLineage._

  override def shadedPackage(): String = Visitor

  /** OpenLineage fails if its own class loader does not find the class. */
  override def getVisitorClassName(): String = {
    val caller = StackWalker.getInstance(StackWalker.Option.RETAIN_CLASS_REFERENCE).getCallerClass
    try Class.forName(Visitor, false, caller.getClassLoader).getName
    catch {
      case _: ClassNotFoundException =>
        LoggerFactory
          .getLogger(classOf[KinesisLineage])
          .warn(
            "OpenLineage does not report the Kinesis streams of this application: its class " +
              "loader does not find the connector. Add both jars in the same way, such as with " +
              "--jars or --packages."
          )
        EmptyMap
    }
  }
}

private object KinesisLineage {
  private val Visitor = "sparkkinesis.spark.lineage.LineageVisitor"

  /** It is defined at nothing. */
  private val EmptyMap = "scala.collection.mutable.HashMap"
}
