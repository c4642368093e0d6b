import sbt.Keys._
import sbt._

/**
 * The jar for Spark 3.5, which has Scala 2.12. The same sources compile for both Scala versions:
 * `src/main/scala-2.12` adds what Scala 2.12 and Spark 3.5 lack.
 */
object Spark35 {

  val cross: Seq[Setting[_]] = Seq(
    crossScalaVersions := Seq(Dependencies.scala, Dependencies.scala212)
  )

  /** On Scala 2.13 the import of [[sparkkinesis.compat]] is empty, and so unused. */
  val settings: Seq[Setting[_]] = cross :+ (scalacOptions := {
    if (is212.value) Seq("-release:17")
    else scalacOptions.value :+ "-Wconf:origin=sparkkinesis\\.compat\\..*:silent"
  })

  private def is212 = Def.setting(scalaBinaryVersion.value == "2.12")
}
