variable "region" {
  description = "AWS region of everything in this folder, for example eu-west-1."
  type        = string
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

variable "tags" {
  description = "Tags of every resource, in addition to the tag application."
  type        = map(string)
  default     = {}
}

variable "kms_key_arn" {
  description = "ARN of your own KMS key for the stream, the table and the bucket. Without it, AWS-managed or AWS-owned keys encrypt them."
  type        = string
  default     = null
}

# The stream

variable "stream_mode" {
  description = "Capacity mode of the stream: PROVISIONED (you choose the number of shards) or ON_DEMAND."
  type        = string
  default     = "PROVISIONED"

  validation {
    condition     = contains(["PROVISIONED", "ON_DEMAND"], var.stream_mode)
    error_message = "The stream mode is PROVISIONED or ON_DEMAND."
  }
}

variable "shards" {
  description = "Number of shards of a provisioned stream. A shard takes 1 MB and 1,000 records per second."
  type        = number
  default     = 2
}

variable "stream_retention_hours" {
  description = "Hours that the stream keeps a record, 24 to 8760. The job must not be stopped for longer."
  type        = number
  default     = 24

  validation {
    condition     = var.stream_retention_hours >= 24 && var.stream_retention_hours <= 8760
    error_message = "Kinesis keeps records for 24 to 8760 hours."
  }
}

variable "shard_level_metrics" {
  description = "CloudWatch metrics per shard of a provisioned stream. Each metric of each shard costs as much as a custom metric."
  type        = list(string)
  default     = ["IncomingBytes", "IteratorAgeMilliseconds", "WriteProvisionedThroughputExceeded"]
}

# The job

variable "compute" {
  description = "Where the job runs: serverless (EMR Serverless) or ec2 (a cluster of EMR on EC2)."
  type        = string
  default     = "serverless"

  validation {
    condition     = contains(["serverless", "ec2"], var.compute)
    error_message = "The compute is serverless or ec2."
  }
}

variable "emr_release" {
  description = "EMR release. A release 7.x has Spark 3.5 and Scala 2.12, and needs the jar for Scala 2.12."
  type        = string
  default     = "emr-7.13.0"

  validation {
    condition     = can(regex("^emr-7\\.[0-9]+\\.[0-9]+$", var.emr_release))
    error_message = "This folder is written for the releases 7.x of EMR, for example emr-7.13.0."
  }
}

variable "connector_jar" {
  description = "File name of the connector's jar for Scala 2.12, which `make jar-2.12` builds."
  type        = string
  default     = "spark-kinesis_2.12-0.1.0.jar"

  validation {
    condition     = startswith(var.connector_jar, "spark-kinesis_2.12-")
    error_message = "EMR 7 has Scala 2.12: choose the jar spark-kinesis_2.12-*.jar."
  }
}

variable "executors" {
  description = "Number of executors. Each has 2 vCPUs and 8 GB."
  type        = number
  default     = 2
}

variable "trigger_seconds" {
  description = "Seconds from the start of one batch to the start of the next. A short interval means more requests to S3 for the checkpoint."
  type        = number
  default     = 10
}

variable "starting_position" {
  description = "Where the first run begins to read the stream: trim_horizon or latest. Later runs continue from the checkpoint."
  type        = string
  default     = "trim_horizon"

  validation {
    condition     = contains(["trim_horizon", "latest"], var.starting_position)
    error_message = "The starting position is trim_horizon or latest."
  }
}

variable "fan_out_consumer" {
  description = "Name of the registered consumer for enhanced fan-out. Without it, the job polls the shards."
  type        = string
  default     = null
}

variable "instance_type" {
  description = "EC2 instance type of the cluster's nodes, with compute = ec2. It needs at least 4 vCPUs and 16 GB."
  type        = string
  default     = "m6i.xlarge"
}

# What is kept for how long

variable "event_days" {
  description = "Days after its timestamp when DynamoDB removes an event (the attribute expiresAt)."
  type        = number
  default     = 30
}

variable "bad_event_days" {
  description = "Days that the bucket keeps bad events."
  type        = number
  default     = 90
}

variable "job_log_days" {
  description = "Days that CloudWatch and the bucket keep the logs of the job itself."
  type        = number
  default     = 30

  validation {
    condition     = contains([1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365], var.job_log_days)
    error_message = "CloudWatch keeps logs for 1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180 or 365 days."
  }
}

variable "alert_days" {
  description = "Days that the archive of the event bus keeps alerts, to send them again."
  type        = number
  default     = 30
}

variable "keep_data" {
  description = "Whether `terraform destroy` refuses to delete the table and a bucket with files in it."
  type        = bool
  default     = true
}

# Network and alarms

variable "vpc_cidr" {
  description = "Address range of the VPC. Each zone receives a sixteenth of it."
  type        = string
  default     = "10.60.0.0/20"
}

variable "zones" {
  description = "Availability zones, for example eu-west-1a. Without them, the first two of the region. Each zone adds the hourly price of three interface endpoints."
  type        = list(string)
  default     = []
}

variable "alarm_email" {
  description = "E-mail address that receives the alarms. AWS asks this address to confirm. Without it, subscribe to the topic yourself."
  type        = string
  default     = null
}

variable "behind_seconds" {
  description = "Age in seconds of the oldest unread record from which the alarm `behind` is raised."
  type        = number
  default     = 120
}
