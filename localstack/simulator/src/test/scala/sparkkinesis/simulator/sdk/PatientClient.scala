package sparkkinesis.simulator.sdk

import scala.annotation.tailrec
import scala.concurrent.duration._

import sparkkinesis.client._
import sparkkinesis.model.{Position, PutEntry, ShardId, StreamRef}

/** A client that waits where the service throttles: for a service that keeps its quotas. */
final class PatientClient(client: KinesisClient) extends KinesisClient {
  override def describeStream(stream: StreamRef): StreamSummary =
    patiently(client.describeStream(stream))

  override def listShards(request: ListShardsRequest): ShardListing =
    patiently(client.listShards(request))

  override def shardIterator(
      stream: StreamRef,
      shard: ShardId,
      position: Position
  ): ShardIterator = patiently(client.shardIterator(stream, shard, position))

  override def getRecords(stream: StreamRef, iterator: ShardIterator, limit: Int): Page =
    patiently(client.getRecords(stream, iterator, limit))

  /** Until every entry is written. */
  override def putRecords(stream: StreamRef, entries: Seq[PutEntry]): Seq[PutResult] = {
    val results = patiently(client.putRecords(stream, entries))
    val failed = results.zip(entries).collect { case (_: PutResult.Failed, entry) => entry }
    if (failed.isEmpty) results
    else {
      SystemClock.sleep(PatientClient.Pause)
      val again = putRecords(stream, failed).iterator
      results.map {
        case written: PutResult.Written => written
        case _: PutResult.Failed => again.next()
      }
    }
  }

  override def close(): Unit = client.close()

  @tailrec private def patiently[A](call: => A, attempts: Int = 60): A =
    (try Right(call)
    catch {
      case e @ (_: KinesisException.Throttled | _: KinesisException.LimitExceeded) => Left(e)
    }) match {
      case Right(answer) => answer
      case Left(e) if attempts == 1 => throw e
      case Left(_) =>
        SystemClock.sleep(PatientClient.Pause)
        patiently(call, attempts - 1)
    }
}

private object PatientClient {
  private val Pause = 1.second
}
