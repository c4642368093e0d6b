package sparkkinesis.sink.metrics

/**
 * Finds the hash key that most rows have, if one has more than half of them, by the vote of Boyer
 * and Moore: a row with the candidate's key is a vote for it, and any other row takes a vote away.
 *
 * @param hashHi upper half of the candidate
 * @param hashLo lower half
 * @param votes that are left; at most the candidate's number of rows
 * @param rows all of them
 */
final case class KeyVotes(hashHi: Long, hashLo: Long, votes: Long, rows: Long) {
  def isOneKey: Boolean = rows > 0 && votes == rows

  /** Half of the votes are left if one key has three quarters of the rows. */
  def isMostlyOneKey: Boolean = rows > 0 && votes >= rows / 2

  def +(other: KeyVotes): KeyVotes = {
    val all = rows + other.rows
    if (hashHi == other.hashHi && hashLo == other.hashLo)
      copy(votes = votes + other.votes, rows = all)
    else if (votes >= other.votes) copy(votes = votes - other.votes, rows = all)
    else other.copy(votes = other.votes - votes, rows = all)
  }
}

object KeyVotes {
  val Zero: KeyVotes = KeyVotes(0, 0, 0, 0)

  /** Counts row after row, without an object for each. */
  private[sink] final class Counter {
    private var hashHi, hashLo, votes, rows = 0L

    def add(hi: Long, lo: Long): Unit = {
      rows += 1
      if (votes == 0) {
        hashHi = hi
        hashLo = lo
      }
      votes += (if (hashHi == hi && hashLo == lo) 1 else -1)
    }

    def result: KeyVotes = KeyVotes(hashHi, hashLo, votes, rows)
  }
}
