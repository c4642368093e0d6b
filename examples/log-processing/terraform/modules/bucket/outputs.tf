output "name" {
  description = "Name of the bucket."
  value       = aws_s3_bucket.files.id
}

output "arn" {
  description = "ARN of the bucket."
  value       = aws_s3_bucket.files.arn
}
