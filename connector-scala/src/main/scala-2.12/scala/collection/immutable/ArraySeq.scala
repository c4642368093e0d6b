package scala.collection.immutable

/** The part of Scala 2.13's class `ArraySeq` that the connector uses. */
object ArraySeq {
  def unsafeWrapArray[A](array: Array[A]): IndexedSeq[A] = new IndexedSeq[A] {
    override def length: Int = array.length
    override def apply(index: Int): A = array(index)
  }
}
