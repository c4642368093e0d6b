package sparkkinesis.spark.lineage

import java.net.URLClassLoader
import java.util.ServiceLoader
import java.util.function.Function

import scala.collection.mutable

import org.scalatest.funsuite.AnyFunSuite

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

  test("where OpenLineage does not find the class, its name is that of an empty map") {
    val tests = classOf[NameReader].getProtectionDomain.getCodeSource.getLocation
    val elsewhere = new URLClassLoader(Array(tests), ClassLoader.getPlatformClassLoader)
    val reader = elsewhere.loadClass(classOf[NameReader].getName).getConstructor().newInstance()
    val name = reader.asInstanceOf[Function[Object, String]].apply(provider)
    assert(name === classOf[mutable.HashMap[_, _]].getName)
  }
}

/** Asks as OpenLineage does: the answer depends on the class loader of the class that asks. */
final class NameReader extends Function[Object, String] {
  override def apply(provider: Object): String =
    provider.getClass.getMethod("getVisitorClassName").invoke(provider).toString
}
