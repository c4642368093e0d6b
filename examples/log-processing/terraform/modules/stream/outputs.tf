output "name" {
  description = "Name of the stream."
  value       = aws_kinesis_stream.events.name
}

output "arn" {
  description = "ARN of the stream."
  value       = aws_kinesis_stream.events.arn
}
