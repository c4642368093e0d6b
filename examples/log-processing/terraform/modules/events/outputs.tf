output "bus_name" {
  description = "Name of the event bus."
  value       = aws_cloudwatch_event_bus.alerts.name
}

output "bus_arn" {
  description = "ARN of the event bus."
  value       = aws_cloudwatch_event_bus.alerts.arn
}

output "rule_name" {
  description = "Name of the rule that sends alerts to the queue."
  value       = aws_cloudwatch_event_rule.errors.name
}

output "queue_name" {
  description = "Name of the queue with the alerts."
  value       = aws_sqs_queue.alerts.name
}

output "queue_url" {
  description = "URL of the queue with the alerts."
  value       = aws_sqs_queue.alerts.url
}

output "dead_queue_name" {
  description = "Name of the queue with alerts that could not be delivered or handled."
  value       = aws_sqs_queue.dead.name
}
