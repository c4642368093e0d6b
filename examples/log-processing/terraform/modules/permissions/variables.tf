variable "region" {
  description = "AWS region of the resources."
  type        = string
}

variable "account" {
  description = "Number of the AWS account."
  type        = string
}

variable "stream_arn" {
  description = "ARN of the stream that the job reads."
  type        = string
}

variable "table_arn" {
  description = "ARN of the table with the events."
  type        = string
}

variable "bus_arn" {
  description = "ARN of the event bus that receives the alerts."
  type        = string
}

variable "bucket_arn" {
  description = "ARN of the bucket with code, checkpoint, bad events and logs."
  type        = string
}

variable "log_group" {
  description = "Name of the log group that the job writes, or null if it writes none."
  type        = string
}

variable "fan_out_consumer" {
  description = "Name of the registered consumer, or null if the job polls."
  type        = string
}

variable "kms_key_arn" {
  description = "ARN of your own KMS key, or null if there is none."
  type        = string
}
