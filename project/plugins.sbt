addSbtPlugin("com.eed3si9n" % "sbt-assembly" % "2.3.1") // the relocated bundle
addSbtPlugin("org.scalameta" % "sbt-scalafmt" % "2.5.6") // make fmt
libraryDependencies += "org.cyclonedx" % "cyclonedx-core-java" % "11.0.1" // its SBOM
