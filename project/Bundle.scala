import sbt.Keys._
import sbt._
import sbtassembly.AssemblyPlugin.autoImport._
import sbtassembly.MergeStrategy

/** The connector's jar: our classes and what they need of the libraries, relocated. */
object Bundle {
  private val ourClasses = taskKey[Seq[File]]("The folders with our classes and resources")
  private val libraries = taskKey[Classpath]("The libraries, with only what we need of them")
  private val licenseFiles = taskKey[Seq[File]]("The licenses of the libraries")
  private val pom = taskKey[File]("The POM, where scanners look for it in a jar")
  private val sbom = taskKey[File]("What the jar contains, in the format of CycloneDX")

  /**
   * @param spark41 the classes for Spark 4.1, which the jar for Spark 3.5 does not have
   * @param simulator runs on the libraries in the jar for Spark 4
   */
  def settings(connector: Project, spark41: Project, simulator: Project): Seq[Setting[_]] =
    Shading.relocate ++ Seq(
      ourClasses := Def.taskIf {
        if (scalaBinaryVersion.value == "2.12") (connector / Runtime / exportedProducts).value.files
        else
          ((connector / Runtime / exportedProducts).value ++
            (spark41 / Runtime / exportedProducts).value).files
      }.value,
      libraries := Def.taskIf {
        if (scalaBinaryVersion.value == "2.12")
          Trimming.trimmed(ourClasses.value, originals(connector).value, target.value / "2.12")
        else
          Trimming.trimmed(
            ourClasses.value ++ (simulator / Runtime / exportedProducts).value.files,
            originals(connector).value,
            target.value / "2.13"
          )
      }.value,
      licenseFiles := Licenses.write(
        originals(connector).value,
        (ThisBuild / baseDirectory).value,
        (Compile / resourceManaged).value
      ),
      sbom := {
        val file = (Compile / resourceManaged).value / "META-INF" / "sbom" /
          s"${moduleName.value}_${scalaBinaryVersion.value}.cdx.json"
        val jar = projectID.value.withName(s"${moduleName.value}_${scalaBinaryVersion.value}")
        val known = (connector / update).value
          .configuration(Runtime)
          .toSeq
          .flatMap(_.modules)
          .map(it => (it.module.organization, it.module.name) -> it.licenses.map(_._1))
          .toMap
        val json = Sbom.json(
          jar,
          ourClasses.value,
          originals(connector).value.zip(libraries.value.files),
          it => known((it.organization, it.name)),
          Shading.placed
        )
        IO.write(file, json)
        file
      },
      pom := {
        val module = s"${moduleName.value}_${scalaBinaryVersion.value}"
        val folder = (Compile / resourceManaged).value / "META-INF" / "maven" / organization.value
        val file = folder / module / "pom.xml"
        IO.copyFile(makePom.value, file)
        file
      },
      Compile / resourceGenerators ++= Seq(
        licenseFiles.taskValue,
        sbom.map(Seq(_)).taskValue,
        pom.map(Seq(_)).taskValue
      ),
      assembly / fullClasspath := ourClasses.value.map(Attributed.blank) ++
        (Compile / exportedProducts).value ++ libraries.value,
      assembly / assemblyMergeStrategy := {
        // The source registers itself here, and so do the SDK's HTTP clients: never discard.
        case PathList("META-INF", "services", _*) => MergeStrategy.filterDistinctLines
        case _ => MergeStrategy.deduplicate
      },
      Compile / packageBin := assembly.value,
      Compile / packageSrc / mappings := Def.taskIf {
        if (scalaBinaryVersion.value == "2.12") (connector / Compile / packageSrc / mappings).value
        else
          (connector / Compile / packageSrc / mappings).value ++
            (spark41 / Compile / packageSrc / mappings).value
      }.value,
      Compile / packageDoc := (connector / Compile / packageDoc).value
    ) ++ addArtifact(
      Def.setting(Artifact(moduleName.value, "cyclonedx", "json", "cyclonedx")),
      sbom
    )

  /** The libraries as they are on Maven Central. Every Spark has Scala and SLF4J. */
  private def originals(connector: Project) = Def.task {
    Checksums.checked((connector / Runtime / fullClasspath).value.filter { it =>
      val group = it.get(moduleID.key).map(_.organization)
      it.data.isFile && !group.exists(Set("org.scala-lang", "org.slf4j"))
    })
  }
}
