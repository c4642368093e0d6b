package sparkkinesis.shard

/**
 * Where the pages of a shard come from: [[feed.PolledPages]] asks for them, [[feed.PushedPages]]
 * receives them by enhanced fan-out. [[feed.ShardReader]] decides what each page means, and
 * [[feed.ShardRangeReader]] drives it on the thread of its caller: a task, or the driver that reads
 * back or looks a record up. Runs on both sides.
 *
 * Has no threads. All but [[feed.EventInbox]] and [[feed.FeedCounts]] belong to one thread at a
 * time.
 */
package object feed
