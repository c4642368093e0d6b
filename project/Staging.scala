import sbt.Keys._
import sbt._

/** A program of Java in a folder that runs without sbt. */
object Staging {
  private val stage = taskKey[File]("Copy the jars into one folder")

  /** @param program name of its folder in `target` */
  def settings(program: String): Seq[Setting[_]] = Seq(
    name := program,
    publish / skip := true,
    autoScalaLibrary := false,
    crossPaths := false,
    stage := {
      val folder = (ThisBuild / baseDirectory).value / "target" / program
      val libraries = update.value.matching(configurationFilter("runtime"))
      val files = (Compile / packageBin).value +: libraries
      IO.delete(folder)
      IO.copy(files.map(file => file -> folder / file.getName))
      folder
    }
  )
}
