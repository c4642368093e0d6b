package sparkkinesis.shard

import java.util.{HashMap => JHashMap, Map => JMap, UUID}

import scala.concurrent.duration._
import scala.jdk.CollectionConverters._

import sparkkinesis.client.{Clock, KinesisException, ResponseRoom, SystemClock}
import sparkkinesis.model.{PackedRecords, ServiceLimits}

/**
 * The memory that the fetch services of one JVM share. Safe for use by many threads.
 *
 * All services together hold at most the largest capacity or the largest page per service,
 * whichever is more, and in addition [[FetchMemory.SpareBytes]]. This includes responses that are
 * being read.
 *
 * @param accounts one account per service that reads, by its name. Only classes of the JDK, because
 *   two class loaders of the connector may share them. Guarded by its own lock.
 */
private[sparkkinesis] final class FetchMemory(
    accounts: JMap[String, Array[Long]] = new JHashMap,
    clock: Clock = SystemClock
) {
  import FetchMemory._

  /**
   * Adds a service. The caller must close the account.
   *
   * @param capacity bytes of pages that the service may hold if it is alone
   */
  def join(capacity: Long): Account = new Account(capacity)

  /** The part of one service. It reads until it says that it does not. */
  final class Account private[FetchMemory] (capacity: Long) extends AutoCloseable {
    private val id = UUID.randomUUID.toString
    private val own = Array(capacity, 0L, 0L)
    private var aside = 0L
    private var isReading = true
    private var isClosed = false
    register()

    /**
     * The even part of the service: bytes that its pages and its reservations may take. Zero if it
     * reads nothing.
     */
    def bytes: Long = accounts.synchronized {
      val part = if (isReading) share(own(Capacity)) else 0L
      math.max(part / LeastPages, part - aside)
    }

    /**
     * Whether the service reads a shard. Otherwise it leaves its part to the others, as soon as it
     * holds nothing.
     */
    def reads(anything: Boolean): Unit = accounts.synchronized {
      isReading = anything
      register()
    }

    private def register(): Unit = accounts.synchronized {
      if (!isClosed && (isReading || own(Held) + own(Arriving) > 0)) accounts.put(id, own): Unit
      else if (accounts.remove(id) != null) accounts.notifyAll()
    }

    /** The service holds so many bytes in other things than pages. Its pages have the rest. */
    def setAside(bytes: Long): Unit = accounts.synchronized {
      update(Held, bytes - aside)
      aside = bytes
    }

    /** The even part of something else that all services share. */
    def share(bytes: Long): Long = accounts.synchronized(bytes / math.max(1, accounts.size))

    /** The pages of the service now take `change` more bytes. */
    def hold(change: Long): Unit = update(Held, change)

    /** Room for responses. The caller must close it after each call. */
    def arrival(): Arrival = new Arrival(this)

    override def close(): Unit = accounts.synchronized {
      isClosed = true
      register()
      own(Capacity) = 0
    }

    private[FetchMemory] def update(index: Int, change: Long): Unit = accounts.synchronized {
      own(index) += change
      if (!isReading) register()
      if (change < 0) accounts.notifyAll()
    }

    /**
     * Whether all services would be within their limits, or this one would have no more than the
     * largest page. Other services may hold more than their parts for long: they filled the memory
     * before this one joined.
     */
    private[FetchMemory] def fits(change: Long): Boolean = accounts.synchronized {
      val isSmall = own(Held) + own(Arriving) + change <= LargestPage
      val others = accounts.values.asScala.filterNot(_ eq own)
      isSmall || others.map(excess(_, 0)).sum + excess(own, change) <= SpareBytes
    }

    /** Bytes beyond the part of a service. */
    private def excess(account: Array[Long], change: Long): Long = {
      val allowed = math.max(share(account(Capacity)), LargestPage)
      math.max(0, account(Held) + account(Arriving) + change - allowed)
    }
  }

  /**
   * Room for the response of one call at a time, which waits in the network until all services
   * together have room for it.
   */
  final class Arrival private[FetchMemory] (account: Account)
      extends ResponseRoom
      with AutoCloseable {

    /** The limit of the next call, so that its response fits beside the pages of other shards. */
    var mostRecords: Int = ServiceLimits.GetRecordsCount

    private var taken = 0L
    private var awaited = Option.empty[Long] // bytes of the response that had to wait for room

    /**
     * The wait for room is part of the call, and uses up its timeout. So a call that fails because
     * it took too long may have failed for lack of memory, and the network may be well.
     *
     * @return the response; or the bytes of the response if there was no memory for them in time
     */
    def receive[A](call: => A): Either[Long, A] = {
      awaited = None
      def lacked(failure: KinesisException): Boolean =
        taken == 0 || failure.isInstanceOf[KinesisException.Unreachable]
      try Right(ResponseRoom.limiting(this)(call))
      catch {
        case failure: KinesisException =>
          Left(awaited.filter(_ => lacked(failure)).getOrElse(throw failure))
      }
    }

    /** Waits for some seconds. */
    override def await(bytes: Long): Boolean = accounts.synchronized {
      val end = clock.elapsedMillis + LongestWait.toMillis
      while (!admits(bytes) && clock.elapsedMillis < end) {
        awaited = Some(bytes)
        clock.await(accounts, end - clock.elapsedMillis)
      }
      taken > 0
    }

    /** Takes the room if there is enough. */
    def admits(bytes: Long): Boolean = accounts.synchronized {
      val needed = math.min(LargestPage, bytes + bytes / IndexParts)
      val hasRoom = account.fits(needed)
      if (hasRoom) {
        account.update(Arriving, needed)
        taken += needed
      }
      hasRoom
    }

    override def close(): Unit = accounts.synchronized {
      account.update(Arriving, -taken)
      taken = 0
    }
  }
}

private[sparkkinesis] object FetchMemory {

  /** The memory of this JVM. */
  lazy val ofJvm: FetchMemory = new FetchMemory(
    SharedMap.ofJvm[JMap[String, Array[Long]]]("FetchMemory", new JHashMap)
  )

  /** For a reader that holds one page at a time: it has room for any response. */
  def unlimited: FetchMemory#Arrival = new FetchMemory().join(Long.MaxValue).arrival()

  /**
   * Bytes of pages that a service may hold if it is alone.
   *
   * @param option what the user wants; by default a sixth of the heap, at most 1 GB
   * @param heap of the executor's JVM
   */
  def capacity(option: Option[Long], heap: Long): Long =
    option.getOrElse(math.min(1L << 30, heap / 6))

  /** What to do if the option is too large for the heap. */
  def warning(option: Option[Long], heap: Long): Option[String] =
    option.filter(_ > heap / 2).map { bytes =>
      s"Option 'fetchBufferSize' is $bytes bytes, which is more than half of this executor's " +
        s"heap of $heap bytes. Use a smaller value, or raise 'spark.executor.memory' " +
        "('spark.driver.memory' in local mode)."
    }

  /** Room for five of the largest pages in addition to full memory parts. */
  val SpareBytes: Long = 64L * 1024 * 1024

  /** Bytes of the largest possible page: a page may be far larger than expected. */
  val LargestPage: Long =
    ServiceLimits.GetRecordsBytes + ServiceLimits.GetRecordsCount * PackedRecords.MostOverhead

  /** Pages have at least this part of a service's memory, whatever else it holds. */
  private val LeastPages = 4

  // What an account consists of.
  private val Capacity = 0
  private val Held = 1
  private val Arriving = 2

  private val LongestWait = 5.seconds

  /** The index of a page takes less than the size of its response divided by this number. */
  private val IndexParts = 4
}
