package sparkkinesis

import org.scalacheck.{Arbitrary, Gen, Shrink}
import org.scalatest.funsuite.AnyFunSuite

/** What the fuzz targets say holds for examples, and for examples with some other bytes. */
class FuzzTargetsSuite extends AnyFunSuite with Properties {
  private implicit val noShrink: Shrink[Array[Byte]] = Shrink.shrinkAny

  FuzzTargets.all.foreach { target =>
    val garbled = for {
      bytes <- target.examples
      at <- Gen.choose(0, bytes.length)
      by <- Gen.choose(0, 3).flatMap(Gen.listOfN(_, Arbitrary.arbitrary[Byte]))
      replaced <- Gen.choose(0, 3)
    } yield bytes.patch(at, by, replaced)

    test(target.getClass.getSimpleName.stripSuffix("$")) {
      forAll(target.examples)(target.fuzzerTestOneInput)
      forAll(garbled)(target.fuzzerTestOneInput)
    }
  }
}
