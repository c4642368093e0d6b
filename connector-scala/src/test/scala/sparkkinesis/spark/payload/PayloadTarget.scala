package sparkkinesis.spark.payload

import org.scalacheck.Gen

import sparkkinesis.FuzzTarget

/** Data of a record give a value within its bound, or a reason. */
object PayloadTarget extends FuzzTarget {
  override def examples: Gen[Array[Byte]] = HostileBytesSuite.valid
  override def fuzzerTestOneInput(bytes: Array[Byte]): Unit = HostileBytesSuite.check(bytes, 5000)
}
