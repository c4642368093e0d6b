locals {
  age_dimensions = flatten([for name, value in local.age.dimensions : [name, value]])

  # Per widget: its title, its statistic, and the metrics in it.
  widgets = [
    {
      title     = "Records that services wrote, and that the job read"
      statistic = "Sum"
      metrics = [
        ["AWS/Kinesis", "IncomingRecords", "StreamName", var.stream],
        ["AWS/Kinesis", "GetRecords.Records", "StreamName", var.stream],
      ]
    },
    {
      title     = "Age of the oldest unread record, in milliseconds"
      statistic = "Maximum"
      metrics   = [concat(["AWS/Kinesis", local.age.metric], local.age_dimensions)]
    },
    {
      title     = "Refused reads and writes of the stream"
      statistic = "Sum"
      metrics = [
        ["AWS/Kinesis", "ReadProvisionedThroughputExceeded", "StreamName", var.stream],
        ["AWS/Kinesis", "WriteProvisionedThroughputExceeded", "StreamName", var.stream],
      ]
    },
    {
      title     = "Write units of the table, and refused writes"
      statistic = "Sum"
      metrics = [
        ["AWS/DynamoDB", "ConsumedWriteCapacityUnits", "TableName", var.table],
        ["AWS/DynamoDB", "WriteThrottleEvents", "TableName", var.table],
      ]
    },
    {
      title     = "Alerts"
      statistic = "Sum"
      metrics = [
        ["AWS/Events", "Invocations", "EventBusName", var.bus, "RuleName", var.rule],
        ["AWS/Events", "FailedInvocations", "EventBusName", var.bus, "RuleName", var.rule],
      ]
    },
    {
      title     = "Alerts that wait in the queues"
      statistic = "Maximum"
      metrics = [
        ["AWS/SQS", "ApproximateNumberOfMessagesVisible", "QueueName", var.alert_queue],
        ["AWS/SQS", "ApproximateNumberOfMessagesVisible", "QueueName", var.dead_queue],
      ]
    },
  ]
}

resource "aws_cloudwatch_dashboard" "job" {
  dashboard_name = var.name

  dashboard_body = jsonencode({
    widgets = [for index, widget in local.widgets : {
      type   = "metric"
      x      = 12 * (index % 2)
      y      = 6 * floor(index / 2)
      width  = 12
      height = 6
      properties = {
        title   = widget.title
        region  = var.region
        stat    = widget.statistic
        period  = 60
        metrics = widget.metrics
      }
    }]
  })
}
