variable "name" {
  description = "Name of the application. The names of role and policies begin with it."
  type        = string
}

variable "account" {
  description = "Number of the AWS account."
  type        = string
}

variable "ec2" {
  description = "Whether the job runs on EC2 instances, which need an instance profile."
  type        = bool
}

variable "job_policy" {
  description = "Policy of the job's role, as JSON."
  type        = string
}

variable "reader_policy" {
  description = "Policy for people who query the events, as JSON."
  type        = string
}
