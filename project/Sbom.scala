import java.util.UUID

import scala.collection.JavaConverters._

import org.cyclonedx.generators.BomGeneratorFactory
import org.cyclonedx.model.component.evidence.Occurrence
import org.cyclonedx.model.{Bom, Component, Evidence, LicenseChoice, Metadata}
import org.cyclonedx.parsers.JsonParser
import org.cyclonedx.util.LicenseResolver
import org.cyclonedx.{Version, model => cyclonedx}
import sbt.Keys._
import sbt._

/**
 * What the connector's jar contains, in the format of CycloneDX: each library with its version, its
 * license, the checksum of its jar on Maven Central, and where its classes are in ours. A place
 * that ends with a star stands for all classes in that folder, without those in folders below it.
 */
object Sbom {
  private val MozillaList = "org/publicsuffix/list/effective_tld_names.dat"

  /** The licenses of copies of other software in a library: parsers of numbers, and of headers. */
  private val OfCopies = {
    val ofNumbers = Seq("BSD-2-Clause", "BSL-1.0", "MIT")
    Map(
      "jackson-core" -> ofNumbers,
      "third-party-jackson-core" -> ofNumbers,
      "netty-codec-http2" -> Seq("MIT"),
      "netty-common" -> Seq("MIT")
    ).withDefaultValue(Nil)
  }

  /**
   * @param jar ours
   * @param ours folders with our classes
   * @param libraries those on the class path, and the copies of them that the jar contains
   * @param licenses by module
   * @param placed where the jar has a class file of a library
   */
  def json(
      jar: ModuleID,
      ours: Seq[File],
      libraries: Seq[(Attributed[File], File)],
      licenses: ModuleID => Seq[String],
      placed: String => String
  ): String = {
    val classes = libraries.map { case (library, copy) =>
      library -> Trimming.entries(copy).map(_._1).filter(_.endsWith(".class")).map(placed)
    }
    val owners = classes
      .flatMap { case (library, names) => names.map(folder(_) -> library.data) }
      .distinct
      .groupBy(_._1)
      .mapValues(_.size)
    val components = classes.filter(_._2.nonEmpty).map { case (library, names) =>
      val module = library.get(moduleID.key).get
      val places = names.map(it => if (owners(folder(it)) == 1) s"${folder(it)}*" else it)
      val known = licenses(module) ++ OfCopies(module.name)
      val it = component(module, known, places.distinct.sorted)
      val checksum = Checksums.sha256(library.data)
      it.addHash(new cyclonedx.Hash(cyclonedx.Hash.Algorithm.SHA_256, checksum))
      it
    }
    val bom = new Bom
    val about = new Metadata
    about.setTimestamp(null) // two builds of a commit are the same
    about.setComponent(component(jar, Seq("Apache-2.0"), folders(ours).distinct))
    bom.setMetadata(about)
    bom.setComponents((components :+ publicSuffixList).sortBy(_.getBomRef).asJava)
    // For the same reason, the same content has the same number.
    val content = components.map(it => it.getPurl + it.getHashes.get(0).getValue).mkString
    bom.setSerialNumber(s"urn:uuid:${UUID.nameUUIDFromBytes(content.getBytes("UTF-8"))}")
    val text = BomGeneratorFactory.createJson(Version.VERSION_16, bom).toJsonString
    val problems = new JsonParser().validate(text.getBytes("UTF-8"), Version.VERSION_16)
    require(problems.isEmpty, s"The SBOM is not valid CycloneDX: $problems")
    text
  }

  private def component(module: ModuleID, licenses: Seq[String], places: Seq[String]) = {
    val it = new Component
    val purl = s"pkg:maven/${module.organization}/${module.name}@${module.revision}"
    it.setType(Component.Type.LIBRARY)
    it.setGroup(module.organization)
    it.setName(module.name)
    it.setVersion(module.revision)
    it.setPurl(purl)
    it.setBomRef(purl)
    it.setLicenses(choice(licenses))
    it.setEvidence(found(places))
    it
  }

  /** Apache's client has a copy of this list of domains, under another license than its own. */
  private def publicSuffixList = {
    val it = new Component
    it.setType(Component.Type.FILE)
    it.setName("Public Suffix List")
    it.setBomRef(MozillaList)
    it.setLicenses(choice(Seq("MPL-2.0")))
    it.setEvidence(found(Seq(MozillaList)))
    it
  }

  private def found(places: Seq[String]) = {
    val evidence = new Evidence
    evidence.setOccurrences(places.map { place =>
      val occurrence = new Occurrence
      occurrence.setLocation(place)
      occurrence
    }.asJava)
    evidence
  }

  private def choice(names: Seq[String]) = {
    val choice = new LicenseChoice
    names.foreach { name =>
      Option(LicenseResolver.resolve(name, false)).map(_.getLicenses.get(0)).getOrElse {
        val other = new cyclonedx.License
        other.setName(name)
        other
      } match { case license => choice.addLicense(license) }
    }
    choice
  }

  private def folders(ours: Seq[File]) = for {
    root <- ours
    found <- (root ** "*.class").get().flatMap(IO.relativize(root, _)).map(folder).distinct.sorted
  } yield s"$found*"

  private def folder(name: String) = name.substring(0, name.lastIndexOf('/') + 1)
}
