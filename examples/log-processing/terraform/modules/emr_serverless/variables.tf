variable "name" {
  description = "Name of the application."
  type        = string
}

variable "release" {
  description = "EMR release."
  type        = string
}

variable "executors" {
  description = "Number of executors, each with 2 vCPUs and 8 GB."
  type        = number
}

variable "subnet_ids" {
  description = "IDs of the subnets of the workers."
  type        = list(string)
}

variable "security_group_id" {
  description = "ID of the security group of the workers."
  type        = string
}

variable "log_group" {
  description = "Name of the log group with the driver's log."
  type        = string
}

variable "job_log_days" {
  description = "Days that the log group keeps the log."
  type        = number
}
