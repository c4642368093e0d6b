import sbt.Keys._
import sbt._

/** The connector's sources for Spark 3.5, which is Scala 2.12; nothing changes for 2.13. */
object Spark35 {

  val cross: Seq[Setting[_]] = Seq(
    crossScalaVersions := Seq(Dependencies.scala, Dependencies.scala212),
    semanticdbEnabled := !is212.value // for scalafix, which looks at 2.13
  )

  /**
   * What the sources take from Scala 2.13 and 2.12 lacks is in `src/main/scala-2.12`. Scala 2.12
   * has no `-Yimports`, so the copies it compiles import that, on the line of their package.
   */
  val settings: Seq[Setting[_]] = cross ++ Seq(
    scalacOptions := (if (is212.value) Seq("-release:17") else scalacOptions.value),
    Compile / unmanagedSourceDirectories := {
      val folders = (Compile / unmanagedSourceDirectories).value
      if (is212.value) folders.filterNot(_ == (Compile / scalaSource).value) else folders
    },
    Compile / sourceGenerators += Def.task {
      val from = (Compile / scalaSource).value
      val to = (Compile / sourceManaged).value
      val files = if (is212.value) (from ** "*.scala").get else Nil
      files.map { file =>
        val copy = to / IO.relativize(from, file).get
        IO.write(copy, adapted(IO.read(file)))
        copy
      }
    }.taskValue
  )

  private def is212 = Def.setting(scalaBinaryVersion.value == "2.12")

  private def adapted(source: String): String = source
    .replaceFirst("(?m)^(package .*)$", "$1; import _root_.sparkkinesis.compat._")
    .replace("import scala.jdk.", "import _root_.sparkkinesis.compat.")
    .replace("import scala.collection.immutable.ArraySeq", "")
    .replaceAll("override (def (writeAll|reportDriverMetrics)\\()", "$1") // Spark 4 calls them
}
