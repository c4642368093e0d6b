package sparkkinesis.simulator.http.response

import sparkkinesis.simulator.listing.AccountLimits
import sparkkinesis.simulator.operation.{MonitoringUpdate, TagListing}

/** Writes the responses of [[ControlActions]]. */
private[http] final class ControlResponses(answers: Responses) {
  import answers.{array, body, out, texts}

  def limits(l: AccountLimits): Unit = body {
    out.writeNumberField("ShardLimit", l.shardLimit)
    out.writeNumberField("OpenShardCount", l.openShards)
    out.writeNumberField("OnDemandStreamCount", l.onDemandStreams)
    out.writeNumberField("OnDemandStreamCountLimit", l.onDemandStreamLimit)
  }

  def streamTags(listing: TagListing): Unit = body {
    tags(listing)
    out.writeBooleanField("HasMoreTags", listing.hasMore)
  }

  def resourceTags(listing: TagListing): Unit = body(tags(listing))

  def monitoring(update: MonitoringUpdate): Unit = body {
    out.writeStringField("StreamName", update.stream.name.name)
    texts("CurrentShardLevelMetrics", update.current.map(_.name))
    texts("DesiredShardLevelMetrics", update.desired.map(_.name))
    out.writeStringField("StreamARN", update.stream.toString)
  }

  private def tags(listing: TagListing): Unit = array("Tags", listing.tags) { case (key, value) =>
    out.writeStringField("Key", key)
    out.writeStringField("Value", value)
  }
}
