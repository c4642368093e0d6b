import sbt.Keys._
import sbt._

/** An application of the Kinesis Client Library, for tests. */
object Kcl {

  /** @param version the first number of the library's version */
  def settings(version: Int): Seq[Setting[_]] = Staging.settings(s"kcl-$version") ++ Seq(
    libraryDependencies += Dependencies.kcl(version),
    // Versions 2 and 3 have the same interface.
    Compile / unmanagedSourceDirectories := Seq(
      (ThisBuild / baseDirectory).value / "tests" / "kcl" / (if (version == 1) "first"
                                                             else "current") /
        "src" / "main" / "java"
    )
  )
}
