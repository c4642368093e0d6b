resource "aws_sns_topic" "alarms" {
  name = "${var.name}-alarms"
}

resource "aws_sns_topic_subscription" "email" {
  count = var.email == null ? 0 : 1

  topic_arn = aws_sns_topic.alarms.arn
  protocol  = "email"
  endpoint  = var.email
}

resource "aws_sns_topic_policy" "alarms" {
  arn = aws_sns_topic.alarms.arn

  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [
      {
        Sid       = "FromAlarms"
        Effect    = "Allow"
        Principal = { Service = "cloudwatch.amazonaws.com" }
        Action    = ["sns:Publish"]
        Resource  = [aws_sns_topic.alarms.arn]
        Condition = { StringEquals = { "aws:SourceAccount" = var.account } }
      },
      {
        Sid       = "FromTheRule"
        Effect    = "Allow"
        Principal = { Service = "events.amazonaws.com" }
        Action    = ["sns:Publish"]
        Resource  = [aws_sns_topic.alarms.arn]
        Condition = { ArnEquals = { "aws:SourceArn" = aws_cloudwatch_event_rule.job_failed.arn } }
      },
    ]
  })
}
