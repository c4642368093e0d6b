variable "region" {
  description = "AWS region of everything in this folder, for example eu-west-1."
  type        = string
}

variable "subnet_ids" {
  description = "Private subnets of one VPC, in which the job runs. Kinesis, DynamoDB, EventBridge, S3, CloudWatch Logs and STS must be reachable from them."
  type        = list(string)

  validation {
    condition     = length(var.subnet_ids) > 0
    error_message = "The job needs at least one subnet."
  }
}

variable "name" {
  description = "Name of the application. The names of all resources begin with it."
  type        = string
  default     = "log-processing"

  validation {
    condition     = can(regex("^[a-z][a-z0-9-]{2,23}$", var.name))
    error_message = "The name needs 3 to 24 characters: lower case letters, digits and hyphens, a letter first."
  }
}

variable "shards" {
  description = "Number of shards. A shard takes 1 MB and 1,000 records per second. Without it, the stream is on-demand."
  type        = number
  default     = 2
}

variable "stream_retention_hours" {
  description = "Hours that the stream keeps a record, 24 to 8760. The job must not be stopped for longer."
  type        = number
  default     = 72
}

variable "executors" {
  description = "Number of executors. Each has 2 vCPUs and 8 GB. A quarter of their task slots is for alerts, at least one slot."
  type        = number
  default     = 2

  validation {
    condition     = var.executors >= 1
    error_message = "The job needs at least one executor."
  }
}

variable "trigger_seconds" {
  description = "Seconds from the start of one micro-batch to the start of the next. A shorter time stores events sooner but makes more requests to S3."
  type        = number
  default     = 10
}

variable "max_mb_per_second" {
  description = "Megabytes per second that each query reads at most, which limits the size of a micro-batch. Default: 2 per shard, as much as a shard gives, or 20 from an on-demand stream."
  type        = number
  default     = null
}

variable "event_days" {
  description = "Days after its timestamp when DynamoDB removes an event."
  type        = number
  default     = 30
}

variable "keep_data" {
  description = "Whether `terraform destroy` refuses to delete the table and a bucket with files in it. It always deletes the stream, the alerts in the queues and the archive."
  type        = bool
  default     = true
}

variable "alarm_email" {
  description = "E-mail address that receives the alarms. AWS asks this address to confirm. Without it, subscribe to the topic yourself."
  type        = string
  default     = null
}
