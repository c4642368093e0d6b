variable "name" {
  description = "Name of the VPC."
  type        = string
}

variable "region" {
  description = "AWS region of the VPC."
  type        = string
}

variable "cidr" {
  description = "Address range of the VPC."
  type        = string
}

variable "zones" {
  description = "Availability zones, each with one subnet. If the list is empty, the first two of the region."
  type        = list(string)
}

variable "role_arn" {
  description = "ARN of the job's role, the only one that the endpoints serve."
  type        = string
}

variable "ec2" {
  description = "Whether the job runs on EC2 instances, which download packages and write no log group."
  type        = bool
}

variable "statements" {
  description = "Per service, what the endpoint of the service allows."
  type = map(list(object({
    Sid      = string
    Effect   = string
    Action   = list(string)
    Resource = list(string)
  })))
}
