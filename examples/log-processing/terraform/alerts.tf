# The bus that receives the alerts, and a queue for the program that reads them.

locals {
  alerts = jsonencode({
    source      = ["log.stream.processor"]
    detail-type = ["LogError"]
  })
}

resource "aws_cloudwatch_event_bus" "alerts" {
  name = var.name
}

# It can send the alerts of the last 30 days again.
resource "aws_cloudwatch_event_archive" "alerts" {
  name             = var.name
  event_source_arn = aws_cloudwatch_event_bus.alerts.arn
  event_pattern    = local.alerts
  retention_days   = 30
}

resource "aws_cloudwatch_event_rule" "alerts" {
  name           = "${var.name}-alerts"
  description    = "Log events with the level ERROR, FATAL or CRITICAL"
  event_bus_name = aws_cloudwatch_event_bus.alerts.name
  event_pattern  = local.alerts
}

resource "aws_cloudwatch_event_target" "queue" {
  rule           = aws_cloudwatch_event_rule.alerts.name
  event_bus_name = aws_cloudwatch_event_bus.alerts.name
  arn            = aws_sqs_queue.alerts.arn

  dead_letter_config {
    arn = aws_sqs_queue.dead.arn
  }
}

# A message keeps its age when it moves to the other queue, which then has ten days for it.
resource "aws_sqs_queue" "alerts" {
  name                       = "${var.name}-alerts"
  message_retention_seconds  = 4 * 24 * 60 * 60
  visibility_timeout_seconds = 60
  sqs_managed_sse_enabled    = true

  redrive_policy = jsonencode({
    deadLetterTargetArn = aws_sqs_queue.dead.arn
    maxReceiveCount     = 5
  })
}

resource "aws_sqs_queue" "dead" {
  name                      = "${var.name}-alerts-dead"
  message_retention_seconds = 14 * 24 * 60 * 60
  sqs_managed_sse_enabled   = true
}

resource "aws_sqs_queue_policy" "from_the_rule" {
  for_each = {
    alerts = aws_sqs_queue.alerts
    dead   = aws_sqs_queue.dead
  }

  queue_url = each.value.url
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Sid       = "FromTheRule"
      Effect    = "Allow"
      Principal = { Service = "events.amazonaws.com" }
      Action    = ["sqs:SendMessage"]
      Resource  = [each.value.arn]
      Condition = { ArnEquals = { "aws:SourceArn" = aws_cloudwatch_event_rule.alerts.arn } }
    }]
  })
}
