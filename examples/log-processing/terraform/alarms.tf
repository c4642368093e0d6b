# The alarms. The job prints the metrics of the namespace LogProcessing, and EMR sends its output to
# CloudWatch. They are about this job: those of AWS/Kinesis are about all readers of the stream.

locals {
  # Per alarm: namespace, metric, dimensions, statistic, and the value above (or below) which it is
  # raised. By default it has to be above for 5 minutes, and no data means that all is well.
  alarms = merge(
    { for query in ["store", "alerts"] : "silent-${query}" => {
      text       = "The query ${query} neither ends micro-batches nor waits for records: it is stuck, or does not run."
      metric     = ["LogProcessing", "Heartbeat", "Sum"]
      dimensions = { Query = "${var.name}-${query}" }
      below      = 1
      missing    = "breaching"
    } },
    { for query in ["store", "alerts"] : "behind-${query}" => {
      text       = "The query ${query} is processing records that are too old."
      metric     = ["LogProcessing", "AgeMs", "Maximum"]
      dimensions = { Query = "${var.name}-${query}" }
      above      = 120 * 1000 # milliseconds
    } },
    {
      bad-events = {
        text       = "Events cannot be read or stored. A service may have changed their format."
        metric     = ["LogProcessing", "Bad", "Sum"]
        dimensions = { Query = "${var.name}-store" }
        above      = 0
      }
      alerts-refused = {
        text       = "EventBridge refuses alerts for what they contain."
        metric     = ["LogProcessing", "Bad", "Sum"]
        dimensions = { Query = "${var.name}-alerts" }
        above      = 0
      }
      writes-throttled = {
        text       = "Kinesis refuses records of the services: it needs more shards or other partition keys."
        metric     = ["AWS/Kinesis", "WriteProvisionedThroughputExceeded", "Sum"]
        dimensions = { StreamName = aws_kinesis_stream.events.name }
        above      = 0
        minutes    = 15
      }
      alerts-unread = {
        text       = "An alert waits for its reader for more than a quarter of an hour."
        metric     = ["AWS/SQS", "ApproximateAgeOfOldestMessage", "Maximum"]
        dimensions = { QueueName = aws_sqs_queue.alerts.name }
        above      = 900
      }
      alerts-dead = {
        text       = "Alerts could not be delivered, or their reader failed five times."
        metric     = ["AWS/SQS", "ApproximateNumberOfMessagesVisible", "Maximum"]
        dimensions = { QueueName = aws_sqs_queue.dead.name }
        above      = 0
      }
    },
  )
}

resource "aws_cloudwatch_metric_alarm" "each" {
  for_each = local.alarms

  alarm_name          = "${var.name}-${each.key}"
  alarm_description   = each.value.text
  namespace           = each.value.metric[0]
  metric_name         = each.value.metric[1]
  statistic           = each.value.metric[2]
  dimensions          = each.value.dimensions
  comparison_operator = can(each.value.below) ? "LessThanThreshold" : "GreaterThanThreshold"
  threshold           = try(each.value.below, each.value.above)
  period              = 300
  evaluation_periods  = try(each.value.minutes, 5) / 5
  treat_missing_data  = try(each.value.missing, "notBreaching")
  alarm_actions       = [aws_sns_topic.alarms.arn]
  ok_actions          = [aws_sns_topic.alarms.arn]
}

resource "aws_cloudwatch_event_rule" "job_failed" {
  name        = "${var.name}-job-failed"
  description = "The job failed ten times in an hour, and EMR does not start it again"

  event_pattern = jsonencode({
    source      = ["aws.emr-serverless"]
    detail-type = ["EMR Serverless Job Run State Change"]
    detail      = { applicationId = [aws_emrserverless_application.job.id], state = ["FAILED"] }
  })
}

resource "aws_cloudwatch_event_target" "job_failed" {
  rule = aws_cloudwatch_event_rule.job_failed.name
  arn  = aws_sns_topic.alarms.arn
}

resource "aws_sns_topic" "alarms" {
  name = "${var.name}-alarms"
}

resource "aws_sns_topic_subscription" "email" {
  count = var.alarm_email == null ? 0 : 1

  topic_arn = aws_sns_topic.alarms.arn
  protocol  = "email"
  endpoint  = var.alarm_email
}

resource "aws_sns_topic_policy" "alarms" {
  arn = aws_sns_topic.alarms.arn

  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [for service, condition in {
      "cloudwatch.amazonaws.com" = { StringEquals = { "aws:SourceAccount" = local.account } }
      "events.amazonaws.com"     = { ArnEquals = { "aws:SourceArn" = aws_cloudwatch_event_rule.job_failed.arn } }
      } : {
      Effect    = "Allow"
      Principal = { Service = service }
      Action    = ["sns:Publish"]
      Resource  = [aws_sns_topic.alarms.arn]
      Condition = condition
    }]
  })
}
