package scala.collection.immutable

/** As much as the connector uses of Scala 2.13's class. */
object ArraySeq {
  def unsafeWrapArray[A](array: Array[A]): IndexedSeq[A] = new IndexedSeq[A] {
    override def length: Int = array.length
    override def apply(index: Int): A = array(index)
  }
}
