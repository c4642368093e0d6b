output "vpc_id" {
  description = "ID of the VPC."
  value       = aws_vpc.job.id
}

output "subnet_ids" {
  description = "IDs of the private subnets, one per zone."
  value       = aws_subnet.private[*].id
}

output "workers_security_group_id" {
  description = "ID of the security group of driver and executors."
  value       = aws_security_group.workers.id
}
