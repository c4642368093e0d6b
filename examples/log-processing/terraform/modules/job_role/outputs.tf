output "arn" {
  description = "ARN of the job's role."
  value       = aws_iam_role.job.arn
}

output "instance_profile_arn" {
  description = "ARN of the instance profile, or null without EC2."
  value       = one(aws_iam_instance_profile.nodes[*].arn)
}

output "reader_policy_arn" {
  description = "ARN of the policy for people who query the events."
  value       = aws_iam_policy.reader.arn
}
