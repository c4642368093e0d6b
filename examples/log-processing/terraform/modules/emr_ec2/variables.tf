variable "name" {
  description = "Name of the cluster."
  type        = string
}

variable "account" {
  description = "Number of the AWS account."
  type        = string
}

variable "release" {
  description = "EMR release."
  type        = string
}

variable "instance_type" {
  description = "EC2 instance type of the nodes."
  type        = string
}

variable "nodes" {
  description = "Number of core nodes, one for the driver and one per executor."
  type        = number
}

variable "attempts" {
  description = "Number of failed attempts of the job in an hour after which YARN gives up."
  type        = number
}

variable "vpc_id" {
  description = "ID of the VPC."
  type        = string
}

variable "subnet_id" {
  description = "ID of the subnet of the cluster."
  type        = string
}

variable "security_group_id" {
  description = "ID of the security group of the nodes."
  type        = string
}

variable "job_role_arn" {
  description = "ARN of the job's role, which the nodes have."
  type        = string
}

variable "instance_profile_arn" {
  description = "ARN of the instance profile with the job's role."
  type        = string
}

variable "log_uri" {
  description = "Folder in S3 for the logs of the cluster."
  type        = string
}
