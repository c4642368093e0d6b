locals {
  # What the job publishes for each ERROR.
  pattern = jsonencode({
    source      = ["log.stream.processor"]
    detail-type = ["LogError"]
  })
}

resource "aws_cloudwatch_event_bus" "alerts" {
  name = var.name
}

resource "aws_cloudwatch_event_archive" "alerts" {
  name             = var.name
  event_source_arn = aws_cloudwatch_event_bus.alerts.arn
  event_pattern    = local.pattern
  retention_days   = var.archive_days
}

resource "aws_cloudwatch_event_rule" "errors" {
  name           = "${var.name}-errors"
  description    = "Log events with the level ERROR"
  event_bus_name = aws_cloudwatch_event_bus.alerts.name
  event_pattern  = local.pattern
}

resource "aws_cloudwatch_event_target" "queue" {
  rule           = aws_cloudwatch_event_rule.errors.name
  event_bus_name = aws_cloudwatch_event_bus.alerts.name
  arn            = aws_sqs_queue.alerts.arn

  # Alerts that EventBridge cannot deliver within a day.
  dead_letter_config {
    arn = aws_sqs_queue.dead.arn
  }

  retry_policy {
    maximum_event_age_in_seconds = 86400
    maximum_retry_attempts       = 185
  }
}

resource "aws_sqs_queue" "alerts" {
  name                       = "${var.name}-alerts"
  message_retention_seconds  = 1209600
  visibility_timeout_seconds = 60
  sqs_managed_sse_enabled    = true

  # Alerts that a reader of the queue received five times without deleting them.
  redrive_policy = jsonencode({
    deadLetterTargetArn = aws_sqs_queue.dead.arn
    maxReceiveCount     = 5
  })
}

resource "aws_sqs_queue" "dead" {
  name                      = "${var.name}-alerts-dead"
  message_retention_seconds = 1209600
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
      Condition = { ArnEquals = { "aws:SourceArn" = aws_cloudwatch_event_rule.errors.arn } }
    }]
  })
}
