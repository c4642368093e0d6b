package sparkkinesis.spark.lineage

import java.net.URLClassLoader
import java.util.function.Function
import java.util.{List => JList, Map => JMap, ServiceLoader}

import scala.collection.mutable
import scala.jdk.CollectionConverters._

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.catalyst.plans.logical.{LeafNode, LogicalPlan, UnaryNode}

import sparkkinesis.model.{StreamArn, StreamName}

/** What OpenLineage finds in the connector's jar, by names. `test_lineage.py` runs OpenLineage. */
class LineageSuite extends AnyFunSuite {
  private val loader = getClass.getClassLoader
  private val service =
    loader.loadClass("io.openlineage.spark.extension.OpenLineageExtensionProvider")
  private val provider: Object =
    ServiceLoader.load(service, loader).iterator.next().asInstanceOf[Object]

  test("OpenLineage finds a class with the two methods that it calls") {
    val visitor = loader.loadClass(new NameReader().apply(provider))
    visitor.getMethod("isDefinedAt", classOf[Object])
    visitor.getMethod("apply", classOf[Object], classOf[String])
    visitor.getConstructor()
  }

  test("a provider of another connector may name its library only, as with OpenLineage's own") {
    assert(service.getMethod("getVisitorClassName").isDefault)
  }

  test("the streams of a plan are its inputs, and those of the root are its outputs") {
    val read = ReadNode(Some(Streams("orders", "returns")))
    val written = WriteNode(read, Streams("copies"))
    assert(Asking.getInputs(written) === Seq("orders", "returns"))
    assert(Asking.getOutputs(written) === Seq("copies"))
    assert(Asking.getOutputs(read) === Nil)
    val namespaces = Asking.datasets(read).map(_.get("namespace"))
    assert(namespaces.distinct === Seq("arn:aws:kinesis:eu-west-1:123456789012"))
  }

  test("a plan without a stream is left to the extensions of other connectors") {
    val other = ReadNode(None)
    assert(!new LineageVisitor().isDefinedAt(other))
    assert(new LineageVisitor().apply(other, "LogicalPlan").isEmpty)
  }

  test("where OpenLineage does not find the class, its name is that of an empty map") {
    val tests = classOf[NameReader].getProtectionDomain.getCodeSource.getLocation
    val elsewhere = new URLClassLoader(Array(tests), ClassLoader.getPlatformClassLoader)
    val reader = elsewhere.loadClass(classOf[NameReader].getName).getConstructor().newInstance()
    val name = reader.asInstanceOf[Function[Object, String]].apply(provider)
    assert(name === classOf[mutable.HashMap[_, _]].getName)
  }
}

private final case class Streams(names: String*) extends KnownStreams {
  override def knownStreams: Iterable[StreamArn] =
    names.map(name => StreamArn("aws", "eu-west-1", "123456789012", StreamName(name)))
}

private final case class ReadNode(offset: Option[KnownStreams]) extends LeafNode {
  override def output: Seq[Attribute] = Nil
}

private final case class WriteNode(child: LogicalPlan, write: KnownStreams) extends UnaryNode {
  override def output: Seq[Attribute] = Nil
  override protected def withNewChildInternal(child: LogicalPlan): LogicalPlan = copy(child)
}

/** The visitor looks at the name of the method that calls it. */
private object Asking {
  def getInputs(plan: LogicalPlan): Seq[String] = names(plan)
  def getOutputs(plan: LogicalPlan): Seq[String] = names(plan)

  def datasets(plan: LogicalPlan): Seq[JMap[String, Object]] = new LineageVisitor()
    .apply(plan, "LogicalPlan")
    .getOrDefault("datasets", Nil.asJava)
    .asInstanceOf[JList[JMap[String, Object]]]
    .asScala
    .toSeq

  private def names(plan: LogicalPlan) =
    datasets(plan).map(_.get("name").toString.stripPrefix("stream/"))
}

/** Asks as OpenLineage does: the answer depends on the class loader of the class that asks. */
final class NameReader extends Function[Object, String] {
  override def apply(provider: Object): String =
    provider.getClass.getMethod("getVisitorClassName").invoke(provider).toString
}
