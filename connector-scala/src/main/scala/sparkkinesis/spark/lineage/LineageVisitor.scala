package sparkkinesis.spark.lineage

import java.util.{Collections, Map => JMap}

import scala.jdk.CollectionConverters._

import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.execution.streaming.sources.MicroBatchWrite

import sparkkinesis.model.StreamArn

/**
 * Shows OpenLineage the streams of a plan. OpenLineage calls the two methods by their names, with
 * the root of a plan, once for the inputs of an event and once for the outputs.
 */
private[lineage] final class LineageVisitor extends ((Object, String) => JMap[String, Object]) {
  import LineageVisitor._

  def isDefinedAt(node: Object): Boolean = node match {
    case plan: LogicalPlan => read(plan).nonEmpty || written(plan).nonEmpty
    case _ => false
  }

  /** @return the datasets, as OpenLineage has them in JSON */
  override def apply(node: Object, nodeType: String): JMap[String, Object] = node match {
    // OpenLineage takes the first map that is not empty, also of another connector.
    case plan: LogicalPlan if isDefinedAt(plan) =>
      val streams = if (isAskedForOutputs) written(plan) else read(plan)
      JMap.of("datasets", streams.map(dataset).asJava, "delegateNodes", Collections.emptyList())
    case _ => Collections.emptyMap()
  }
}

private object LineageVisitor {

  /** The leaves have the scan of a batch read, or the offsets of a micro-batch. */
  private def read(plan: LogicalPlan): Seq[StreamArn] =
    plan
      .collectWithSubqueries { case leaf if leaf.children.isEmpty => streamsIn(leaf) }
      .flatten
      .distinct

  private def written(root: LogicalPlan): Seq[StreamArn] =
    if (root.children.isEmpty) Nil else streamsIn(root)

  private def streamsIn(node: LogicalPlan): Seq[StreamArn] = node.productIterator.toSeq.flatMap {
    case Some(part) => streamsOf(part)
    case write: MicroBatchWrite => streamsOf(write.writeSupport)
    case part => streamsOf(part)
  }

  private def streamsOf(part: Any): Iterable[StreamArn] = part match {
    case known: KnownStreams => known.knownStreams
    case _ => Nil
  }

  /**
   * The namespace is the ARN up to the resource, as for tables of AWS Glue. OpenLineage needs the
   * facets of an output, even if there are none.
   */
  private def dataset(stream: StreamArn): JMap[String, Object] = {
    val name = s"stream/${stream.name}"
    val namespace = stream.toString.stripSuffix(s":$name")
    JMap.of("namespace", namespace, "name", name, "facets", Collections.emptyMap())
  }

  /**
   * OpenLineage calls `apply` for inputs and for outputs, with the same arguments. Only the name of
   * the calling method shows which of the two it wants.
   */
  private def isAskedForOutputs: Boolean =
    StackWalker.getInstance.walk(_.anyMatch(_.getMethodName == "getOutputs"))
}
