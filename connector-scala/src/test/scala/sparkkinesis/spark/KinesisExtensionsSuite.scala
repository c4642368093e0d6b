package sparkkinesis.spark

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.connector.expressions.Transform
import org.apache.spark.sql.{SparkSessionExtensions, SparkSessionExtensionsProvider}

/** A Spark that lacks a class must not fail, because the rules are part of every session. */
class KinesisExtensionsSuite extends AnyFunSuite {
  private val catalyst = "org.apache.spark.sql.catalyst"
  private val ofFunction = s"$catalyst.expressions.NamedArgumentExpression"
  private val ofNewTable = s"$catalyst.plans.logical.TableSpecBase"

  /** Loads the rules once more, and finds none of the lacking classes. */
  private final class Loader(lacking: Set[String]) extends ClassLoader(getClass.getClassLoader) {
    override def loadClass(name: String, resolve: Boolean): Class[_] =
      if (lacking(name)) throw new ClassNotFoundException(name)
      else if (
        name.startsWith(classOf[KinesisExtensions].getName) ||
        name.startsWith("org.apache.spark.sparkkinesis.")
      ) Option(findLoadedClass(name)).getOrElse(defined(name))
      else super.loadClass(name, resolve)

    private def defined(name: String) = {
      val in = getParent.getResourceAsStream(s"${name.replace('.', '/')}.class")
      val bytes =
        try in.readAllBytes()
        finally in.close()
      defineClass(name, bytes, 0, bytes.length)
    }
  }

  private final class Registered extends SparkSessionExtensions {
    var rules = Seq.empty[String]
    var ofNewTable = Option.empty[CheckRuleBuilder]

    override def injectHintResolutionRule(builder: RuleBuilder): Unit = rules :+= "function"

    override def injectCheckRule(builder: CheckRuleBuilder): Unit = {
      rules :+= "new table"
      ofNewTable = Some(builder)
    }
  }

  /** As a Spark would define it that has the class, and not its method. */
  private case object Changed extends LeafNode with V2CreateTablePlan {
    override def name: LogicalPlan = throw new NoSuchMethodError("name")
    override def output: Seq[Attribute] = Seq.empty
    override def partitioning: Seq[Transform] = Seq.empty
    override def columns: Seq[ColumnDefinition] = Seq.empty
    override def withPartitioning(rewritten: Seq[Transform]): V2CreateTablePlan = this
  }

  private def rules(lacking: String*): Set[String] = {
    val registered = new Registered
    val extensions = new Loader(lacking.toSet)
      .loadClass(classOf[KinesisExtensions].getName)
      .getConstructor()
      .newInstance()
      .asInstanceOf[SparkSessionExtensionsProvider]
    extensions(registered)
    registered.rules.toSet
  }

  test("a session has both rules") {
    assert(rules() === Set("function", "new table"))
  }

  test("a Spark that lacks a class of one rule has the other rule") {
    assert(rules(lacking = ofFunction) === Set("new table"))
    assert(rules(lacking = ofNewTable) === Set("function"))
    assert(rules(ofFunction, ofNewTable) === Set.empty)
  }

  test("a Spark whose commands lack a method creates its tables, with a warning") {
    val registered = new Registered
    new KinesisExtensions()(registered)
    val warnings = LogTap.of(classOf[KinesisExtensions])(registered.ofNewTable.get(null)(Changed))
    assert(warnings.map(_.getMessage.getFormattedMessage).exists(_.contains("does not refuse")))
  }
}
