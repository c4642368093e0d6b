locals {
  stream = { StreamName = var.stream }
  age = (var.fan_out_consumer == null
    ? { metric = "GetRecords.IteratorAgeMilliseconds", dimensions = local.stream }
    : {
      metric     = "SubscribeToShardEvent.MillisBehindLatest"
      dimensions = merge(local.stream, { ConsumerName = var.fan_out_consumer })
  })

  # `missing` says what no data means. If nothing reads the stream, its age is missing.
  alarms = {
    behind = {
      text       = "The job does not run, or reads more slowly than services write."
      namespace  = "AWS/Kinesis"
      metric     = local.age.metric
      dimensions = local.age.dimensions
      statistic  = "Maximum"
      above      = 1000 * var.behind_seconds
      periods    = 5
      seconds    = 60
      missing    = "breaching"
    }
    reads-throttled = {
      text       = "More than 5 % of the calls of GetRecords are refused: too many applications poll the stream."
      namespace  = "AWS/Kinesis"
      metric     = "ReadProvisionedThroughputExceeded"
      dimensions = local.stream
      statistic  = "Average"
      above      = 0.05
      periods    = 3
      seconds    = 300
      missing    = "notBreaching"
    }
    writes-throttled = {
      text       = "Kinesis refuses records of the services: the stream needs more shards or better partition keys."
      namespace  = "AWS/Kinesis"
      metric     = "WriteProvisionedThroughputExceeded"
      dimensions = local.stream
      statistic  = "Sum"
      above      = 0
      periods    = 3
      seconds    = 300
      missing    = "notBreaching"
    }
    table-throttled = {
      text       = "DynamoDB refuses writes for a quarter of an hour."
      namespace  = "AWS/DynamoDB"
      metric     = "WriteThrottleEvents"
      dimensions = { TableName = var.table }
      statistic  = "Sum"
      above      = 0
      periods    = 3
      seconds    = 300
      missing    = "notBreaching"
    }
    alerts-dead = {
      text       = "Alerts could not be delivered, or a reader of the queue failed five times."
      namespace  = "AWS/SQS"
      metric     = "ApproximateNumberOfMessagesVisible"
      dimensions = { QueueName = var.dead_queue }
      statistic  = "Maximum"
      above      = 0
      periods    = 1
      seconds    = 300
      missing    = "notBreaching"
    }
    alerts-unread = {
      text       = "An alert waits in the queue for more than a day. The queue keeps it for 14 days."
      namespace  = "AWS/SQS"
      metric     = "ApproximateAgeOfOldestMessage"
      dimensions = { QueueName = var.alert_queue }
      statistic  = "Maximum"
      above      = 86400
      periods    = 1
      seconds    = 300
      missing    = "notBreaching"
    }
  }
}

resource "aws_cloudwatch_metric_alarm" "each" {
  for_each = local.alarms

  alarm_name          = "${var.name}-${each.key}"
  alarm_description   = each.value.text
  namespace           = each.value.namespace
  metric_name         = each.value.metric
  dimensions          = each.value.dimensions
  statistic           = each.value.statistic
  comparison_operator = "GreaterThanThreshold"
  threshold           = each.value.above
  evaluation_periods  = each.value.periods
  period              = each.value.seconds
  treat_missing_data  = each.value.missing
  alarm_actions       = [aws_sns_topic.alarms.arn]
  ok_actions          = [aws_sns_topic.alarms.arn]
}

# EMR reports the end of a job to the default bus.
resource "aws_cloudwatch_event_rule" "job_failed" {
  name          = "${var.name}-job-failed"
  description   = "The job failed, and EMR does not start it again"
  event_pattern = jsonencode(var.job_failed)
}

resource "aws_cloudwatch_event_target" "job_failed" {
  rule = aws_cloudwatch_event_rule.job_failed.name
  arn  = aws_sns_topic.alarms.arn
}
