package sparkkinesis.simulator.contract

import sparkkinesis.client.KinesisException

/** Tags of streams: by the older calls, and by those of resources. */
trait TagContract { this: ContractFixture =>
  contract("AddTagsToStream", "tags are added and replaced") {
    val stream = newStream(1).name
    assert(admin.tags(stream).isEmpty)
    admin.addTags(stream, Map("team" -> "data", "cost" -> "low", "note" -> ""))
    admin.addTags(stream, Map("cost" -> "high"))
    assert(admin.tags(stream) == Map("team" -> "data", "cost" -> "high", "note" -> ""))
  }

  contract("AddTagsToStream", "a stream has at most 50 tags") {
    val stream = newStream(1).name
    val fifty = (1 to 50).map(i => s"key-$i" -> "v").toMap
    fifty.grouped(10).foreach(admin.addTags(stream, _))
    refused[KinesisException](admin.addTags(stream, Map("one more" -> "v")))
    admin.addTags(stream, Map("key-1" -> "other"))
    assert(admin.tags(stream) == fifty.updated("key-1", "other"))
  }

  contract("RemoveTagsFromStream", "existing tags are removed, and unknown ones are ignored") {
    val stream = newStream(1).name
    admin.addTags(stream, Map("team" -> "data", "cost" -> "low"))
    admin.removeTags(stream, Seq("team", "no such tag"))
    assert(admin.tags(stream) == Map("cost" -> "low"))
  }

  contract("ListTagsForStream", "tags are listed page by page, each one once") {
    val stream = newStream(1).name
    val seven = (1 to 7).map(i => s"key-$i" -> s"$i").toMap
    admin.addTags(stream, seven)
    assert(admin.tags(stream, limit = 2) == seven && admin.tags(stream, limit = 50) == seven)
    val missing = newName()
    refused[KinesisException.NotFound](admin.tags(missing))
  }

  contract(
    "TagResource",
    "tags that are added by ARN belong to the stream, and replace tags with the same key"
  ) {
    val stream = newStream(1).name
    admin.addTags(stream, Map("team" -> "data", "cost" -> "low"))
    admin.tagResource(stream, Map("cost" -> "high", "note" -> "n"))
    assert(admin.tags(stream) == Map("team" -> "data", "cost" -> "high", "note" -> "n"))
  }

  contract("UntagResource", "existing tags are removed by ARN, and unknown ones are ignored") {
    val stream = newStream(1).name
    admin.addTags(stream, Map("team" -> "data", "cost" -> "low"))
    admin.untagResource(stream, Seq("team", "no such tag"))
    assert(admin.tags(stream) == Map("cost" -> "low"))
  }

  contract("ListTagsForResource", "all tags of a stream are listed by ARN in one response") {
    val stream = newStream(1).name
    assert(admin.resourceTags(stream).isEmpty)
    val many = (1 to 20).map(i => s"key-$i" -> s"$i").toMap
    many.grouped(10).foreach(admin.addTags(stream, _))
    assert(admin.resourceTags(stream) == many)
  }
}
