output "topic_arn" {
  description = "ARN of the SNS topic that receives the alarms."
  value       = aws_sns_topic.alarms.arn
}

output "dashboard_url" {
  description = "Address of the CloudWatch dashboard."
  value       = "https://${var.region}.console.aws.amazon.com/cloudwatch/home?region=${var.region}#dashboards:name=${var.name}"
}
