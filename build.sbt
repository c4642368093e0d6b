ThisBuild / organization := Publisher.organization
Global / stagingDirectory := file("target/repository").getAbsoluteFile
ThisBuild / version := IO.read(file("python/src/spark_kinesis/VERSION")).trim
ThisBuild / scalaVersion := Dependencies.scala
ThisBuild / scalacOptions ++= Seq(
  "-release:17", // Spark 4's own class file version
  "-deprecation",
  "-feature",
  "-unchecked",
  "-Xlint:_,-byname-implicit",
  "-Wunused",
  "-Wdead-code",
  "-Werror",
  // Without it scalac copies the default methods of Spark's Java interfaces into our classes, with
  // types that older Sparks lack: Py4J and task failures then break there (make link-check).
  "-Xmixin-force-forwarders:false"
)

Testing.concurrency

/**
 * Only we extend the classes of a program or a test: they may name types that are private to us.
 */
val programLint = scalacOptions += "-Xlint:-inaccessible"

lazy val root = (project in file("."))
  .aggregate(connector, spark41, simulator, integration, bundle, simulatorJar)
  .settings(publish / skip := true)

/** The connector's own classes. Users get them in the bundle, and in no other jar. */
lazy val connector = (project in file("connector-scala"))
  .settings(
    name := "spark-kinesis-classes",
    publish / skip := true,
    libraryDependencies ++= Dependencies.providedBy(
      if (scalaBinaryVersion.value == "2.12") Dependencies.spark35 else Dependencies.spark
    ) ++ Dependencies.bundled ++ Dependencies.test,
    Compile / doc / scalacOptions :=
      Seq("-release:17", "-no-link-warnings", "-skip-packages", "org.apache.spark:scala"),
    inConfig(Test)(programLint),
    Testing.settings,
    Spark35.settings
  )

/** The classes of the connector that implement interfaces of Spark 4.1. */
lazy val spark41 = (project in file("connector-scala/spark-4.1"))
  .dependsOn(connector)
  .settings(
    name := "spark-kinesis-spark-4.1",
    libraryDependencies ++= Dependencies.providedBy(Dependencies.spark41),
    publish / skip := true
  )

/** The local Kinesis: a state machine with two faces, the port and HTTP. */
lazy val simulator = (project in file("localstack/simulator"))
  .dependsOn(connector % "compile->compile;test->test")
  .settings(
    name := "spark-kinesis-simulator",
    programLint,
    libraryDependencies ++= Dependencies.provided ++ Dependencies.test :+ Dependencies.docker,
    publish / skip := true,
    Testing.settings
  )

/** Tests of the connector against the local Kinesis: simulations, and Spark itself. */
lazy val integration = (project in file("tests/integration"))
  .dependsOn(connector % "test->test", simulator % "test->test")
  .settings(
    name := "spark-kinesis-integration",
    programLint,
    libraryDependencies ++= Dependencies.provided ++ Dependencies.test,
    publish / skip := true,
    Testing.settings,
    Testing.separately(Seq(".LeakSuite", ".SinkLeakSuite"), Seq(".DeliverySimulation"))
  )

/** What users get, and what is published: the connector with its libraries relocated. */
lazy val bundle = (project in file("connector-scala/bundle"))
  .settings(
    name := "spark-kinesis",
    Spark35.cross,
    Bundle.settings(connector, spark41, simulator),
    Publisher.settings,
    assembly / assemblyOutputPath := (ThisBuild / baseDirectory).value / "target" /
      s"spark-kinesis_${scalaBinaryVersion.value}-${version.value}.jar"
  )

/** The simulator's own classes, rewritten to the bundle's relocated libraries; runs beside it. */
lazy val simulatorJar = (project in file("localstack/simulator/jar"))
  .settings(
    name := "spark-kinesis-simulator-jar",
    publish / skip := true,
    Shading.relocate,
    assembly / fullClasspath := (simulator / Runtime / exportedProducts).value,
    assembly / mainClass := Some("sparkkinesis.simulator.Main"),
    assembly / assemblyOutputPath := (ThisBuild / baseDirectory).value / "target" /
      s"spark-kinesis-simulator_2.13-${version.value}.jar"
  )

/**
 * Measures the connector against a raw SDK loop (`make bench`). The benchmarks are not part of
 * `root`, whose tests are quick.
 */
lazy val bench = (project in file("tests/bench"))
  .dependsOn(connector, spark41)
  .settings(
    name := "spark-kinesis-bench",
    programLint,
    libraryDependencies ++= Dependencies.onClassPath ++ Dependencies.test,
    publish / skip := true,
    // Spark 4.1 brings a newer Scala library than our compiler's.
    allowUnsafeScalaLibUpgrade := true,
    Testing.forked, // all tests, whatever the scope: only `make test-bench` runs them
    Compile / mainClass := Some("sparkkinesis.bench.Main"),
    run / fork := true,
    run / baseDirectory := (ThisBuild / baseDirectory).value,
    run / javaOptions ++= Seq("-Xms4g", "-Xmx4g") ++ Shading.javaOptions,
    // The local Kinesis runs from the jars that users have.
    Compile / run := (Compile / run)
      .dependsOn(bundle / assembly, simulatorJar / assembly)
      .evaluated,
    Test / forkOptions := (Test / forkOptions).value
      .withWorkingDirectory((ThisBuild / baseDirectory).value),
    Test / test := (Test / test).dependsOn(bundle / assembly, simulatorJar / assembly).value
  )

/** Jazzer, which `make campaign PART=fuzz` puts beside the classes of the tests. */
lazy val jazzer = (project in file("tests/campaign/jazzer")).settings(
  publish / skip := true,
  autoScalaLibrary := false,
  crossPaths := false,
  libraryDependencies ++= Dependencies.jazzer
)

/** Amazon's DynamoDB Local for the example, into target/dynamodb-local (`make demo-logs`). */
lazy val dynamodbLocal = (project in file("examples/log-processing/dynamodb-local"))
  .settings(
    Staging.settings("dynamodb-local"),
    libraryDependencies ++= Dependencies.dynamodbLocal
  )

/** Applications of the Kinesis Client Library 1, 2 and 3 for tests, into target/kcl-1 to kcl-3. */
lazy val kcl1 = (project in file("tests/kcl/1")).settings(Kcl.settings(1))
lazy val kcl2 = (project in file("tests/kcl/2")).settings(Kcl.settings(2))
lazy val kcl3 = (project in file("tests/kcl/3")).settings(Kcl.settings(3))
