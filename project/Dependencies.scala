import sbt._

/** Every version of the Scala build, once. The Python side's are in `python/pyproject.toml`. */
object Dependencies {
  val scala = "2.13.16" // Spark 4.0's own
  val scala212 = "2.12.18" // Spark 3.5's own

  /** The Spark releases that the connector serves, as on Maven Central, the oldest first. */
  private val served = IO
    .readLines(file("project/spark-versions"))
    .map(_.trim)
    .filterNot(line => line.isEmpty || line.startsWith("#"))
    .map(_.split(" +").last)
  val spark35 = served.find(_.startsWith("3.5.")).get

  /** The oldest Spark 4: a jar built on it runs on newer ones (`make link-check`). */
  val spark = sys.props.getOrElse("spark.version", served.find(_.startsWith("4.")).get)

  /** The oldest Spark with real-time mode. */
  val spark41 = served.find(_.startsWith("4.1.")).get
  private val awsSdk = "2.52.0"

  /**
   * The modules that the SDK's profiles find by name, for IAM Identity Center. They have an older
   * version than the others, because the registry lacks these two in 2.52.0, `kinesis` in 2.51.2,
   * and `aws-cbor-protocol` in 2.50.2. Each release of the SDK's core runs the modules of earlier
   * releases. `SdkVersionsSuite` fails when the exception is not needed any longer.
   */
  private val awsSso = "2.51.2"
  private val jackson = "2.18.6" // Spark 4.0's own line, so that tests run on one copy
  private val slf4j = "2.0.16" // Spark 4.0's own: never in the bundle

  /** On every Spark class path already, so never in the bundle. */
  val provided: Seq[ModuleID] = providedBy(spark)

  def providedBy(spark: String): Seq[ModuleID] = Seq(
    "org.apache.spark" %% "spark-sql" % spark % Provided,
    "org.slf4j" % "slf4j-api" % slf4j % Provided
  )

  /** What the bundle carries, relocated. */
  val bundled: Seq[ModuleID] = Seq(
    ("software.amazon.awssdk" % "kinesis" % awsSdk)
      .exclude("software.amazon.awssdk", "apache-client"),
    "software.amazon.awssdk" % "sts" % awsSdk exclude ("software.amazon.awssdk", "apache-client"),
    "software.amazon.awssdk" % "sso" % awsSso exclude ("software.amazon.awssdk", "apache-client"),
    "software.amazon.awssdk" % "ssooidc" % awsSso exclude (
      "software.amazon.awssdk",
      "apache-client"
    ),
    "software.amazon.awssdk" % "apache5-client" % awsSdk,
    "com.fasterxml.jackson.core" % "jackson-databind" % jackson,
    "com.fasterxml.jackson.dataformat" % "jackson-dataformat-cbor" % jackson
  )

  /** LocalStack for the simulator's tests, where there is Docker; on one copy of Jackson. */
  val docker: ModuleID = ("org.testcontainers" % "testcontainers" % "2.0.5" % Test)
    .exclude("com.fasterxml.jackson.core", "jackson-annotations")

  /** Amazon's DynamoDB Local, with its native SQLite for each system. */
  val dynamodbLocal: Seq[ModuleID] = Seq("com.amazonaws" % "DynamoDBLocal" % "2.6.1")

  /** The fuzzer, with its libFuzzer for each system. */
  val jazzer: Seq[ModuleID] = Seq("com.code-intelligence" % "jazzer" % "0.24.0")

  /** The Kinesis Client Library, whose lease tables the tests read. */
  val kcl: Map[Int, ModuleID] = Map(
    1 -> "com.amazonaws" % "amazon-kinesis-client" % "1.15.2",
    2 -> "software.amazon.kinesis" % "amazon-kinesis-client" % "2.7.0",
    3 -> "software.amazon.kinesis" % "amazon-kinesis-client" % "3.1.1"
  )

  /** What the bench runs on: Spark itself, with all it needs, and with real-time mode. */
  val onClassPath: Seq[ModuleID] = Seq("org.apache.spark" %% "spark-sql" % spark41)

  val test: Seq[ModuleID] = Seq(
    "org.scalatest" %% "scalatest" % "3.2.19" % Test,
    "org.scalatestplus" %% "scalacheck-1-18" % "3.2.19.0" % Test
  )
}
