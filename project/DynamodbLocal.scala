import sbt.Keys._
import sbt._

/** Amazon's DynamoDB Local in a folder that runs without sbt. */
object DynamodbLocal {
  private val stage = taskKey[File]("Copy the jars and native libraries into one folder")

  val settings: Seq[Setting[_]] = Seq(
    autoScalaLibrary := false,
    crossPaths := false,
    stage := {
      val folder = (ThisBuild / baseDirectory).value / "target" / "dynamodb-local"
      val libraries = update.value.matching(configurationFilter("runtime"))
      val files = (Compile / packageBin).value +: libraries
      IO.delete(folder)
      IO.copy(files.map(file => file -> folder / file.getName))
      folder
    }
  )
}
