package sparkkinesis.simulator.state

/**
 * How the server counts what it accepts into a shard: 1,000 records and 1 MiB per second. The
 * documentation of AWS does not say it, so a writer must cope with each of these.
 *
 * @param name as the command line has it
 */
sealed abstract class WriteQuota(val name: String)

object WriteQuota {

  /** A token bucket that holds the amount of one second. */
  case object Bucket extends WriteQuota("aws")

  /** Fixed seconds. Each begins with the first record after the previous one ended. */
  case object Window extends WriteQuota("window")

  /** Fixed seconds, as in [[Window]]. Refused records count too. */
  case object CountingWindow extends WriteQuota("counting-window")

  /** Counts in any period of one second. Refused records count too. */
  case object Rolling extends WriteQuota("rolling")

  /** A token bucket that holds the amount of a tenth of a second only. */
  case object Smooth extends WriteQuota("smooth")

  /** A token bucket. Another writer takes half of what flows in, and never yields. */
  case object Shared extends WriteQuota("shared")

  /** A token bucket with a quarter of the rate for 20 s, half of it for 20 s, and then all. */
  case object Steps extends WriteQuota("steps")

  val all: Vector[WriteQuota] =
    Vector(Bucket, Window, CountingWindow, Rolling, Smooth, Shared, Steps)

  def parse(name: String): Option[WriteQuota] = all.find(_.name == name)
}
