import sbt.Keys._
import sbt._

/** How tests run: in JVMs of their own, and as much of them as `SPARK_KINESIS_TESTS` asks for. */
object Testing {

  /**
   * `quick` leaves out slow and long tests, and `ci` only long ones. `rest` runs both, and what a
   * quick run repeats fewer times.
   */
  private val scope: Seq[String] = sys.env.get("SPARK_KINESIS_TESTS") match {
    case Some("quick") => Seq("-l", "sparkkinesis.Slow", "-l", "sparkkinesis.LongRunning")
    case Some("ci") => Seq("-l", "sparkkinesis.LongRunning")
    case Some("rest") =>
      Seq("Slow", "LongRunning", "Repeated").flatMap(it => Seq("-n", s"sparkkinesis.$it"))
    case _ => Nil
  }

  /** All tests, whatever the scope. */
  val forked: Seq[Setting[_]] = Seq(
    Test / fork := true,
    Test / javaOptions ++= Seq("-Xmx2g") ++ Shading.javaOptions,
    // The machine's own proxy and certificates do not count.
    Test / envVars ++= Seq(
      "AWS_CA_BUNDLE",
      "HTTPS_PROXY",
      "https_proxy",
      "HTTP_PROXY",
      "http_proxy"
    )
      .map(_ -> "")
      .toMap,
    Test / testOptions += Tests.Argument(TestFrameworks.ScalaTest, "-oDF")
  )

  /** The tests of the scope. */
  val settings: Seq[Setting[_]] =
    forked :+ (Test / testOptions += Tests.Argument(TestFrameworks.ScalaTest, scope: _*))

  /** Two JVMs with tests at a time: most tests wait more than they compute. */
  val concurrency: Setting[_] =
    Global / concurrentRestrictions += Tags.limit(Tags.ForkedTestGroup, 2)

  /**
   * A JVM for each group of suites, which watch or fill their whole JVM, and one for the others.
   * The suites of a group run in the order of their names here.
   */
  def separately(groups: Seq[String]*): Setting[_] = Test / testGrouping := {
    val options = (Test / forkOptions).value
    val tests = (Test / definedTests).value
    val alone = groups.map(names => names.flatMap(name => tests.filter(_.name.endsWith(name))))
    (alone :+ tests.diff(alone.flatten))
      .map(group => Tests.Group(group.head.name, group, Tests.SubProcess(options)))
  }
}
