package sparkkinesis

import java.nio.file.{Files, Path, Paths}

/** Where this project lies, from wherever its tests run. */
object Repository {
  val root: Path = Iterator
    .iterate(Paths.get("").toAbsolutePath)(_.getParent)
    .takeWhile(_ != null)
    .find(directory => Files.exists(directory.resolve("build.sbt")))
    .getOrElse(throw new IllegalStateException("No build.sbt above the working directory."))
}
