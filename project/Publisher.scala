import java.util.Properties

import sbt.Keys._
import sbt._

/** Who publishes the jars, and what Maven Central asks about them. */
object Publisher {
  private val settingsFile = file("python/publisher.properties")
  private val values = new Properties
  IO.load(values, settingsFile)

  private def value(name: String): Option[String] =
    Option(values.getProperty(name)).map(_.trim).filter(_.nonEmpty)

  /** Until there is a domain, the group is the name of our package. */
  val organization: String = value("organization").getOrElse("sparkkinesis")

  private val missing = Seq("organization", "site", "repository", "mail").filter(value(_).isEmpty)

  /** `LOCAL=1` tries the release on this machine, without addresses. */
  private val isLocal = sys.env.get("SPARK_KINESIS_LOCAL_RELEASE").contains("1")

  private val addresses = taskKey[Unit]("Refuse to publish without the publisher's addresses")

  /** The one module that is published. `sonaUpload` sends `target/repository` to Maven Central. */
  val settings: Seq[Setting[_]] = Seq(
    description := "Amazon Kinesis Data Streams source and sink for Apache Spark",
    licenses := Seq(License.Apache2),
    homepage := value("site").map(url),
    scmInfo := value("repository").map { it =>
      ScmInfo(url(it), s"scm:git:$it.git", s"scm:git:$it.git")
    },
    developers := (for {
      mail <- value("mail")
      site <- value("site")
    } yield Developer("spark-kinesis", "The authors of spark-kinesis", mail, url(site))).toList,
    versionScheme := Some("early-semver"),
    autoScalaLibrary := false, // Spark has it: the jar needs no other artifact
    pomIncludeRepository := (_ => false),
    publishTo := localStaging.value,
    addresses := {
      if (missing.nonEmpty && !isLocal)
        throw new MessageOnlyException(
          s"$settingsFile lacks ${missing.mkString(", ")}: fill them in. To try a release on " +
            "this machine without them, run `make release LOCAL=1`"
        )
    },
    publish := publish.dependsOn(addresses).value
  )
}
