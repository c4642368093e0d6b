variable "name" {
  description = "Name of the stream."
  type        = string
}

variable "mode" {
  description = "Capacity mode: PROVISIONED or ON_DEMAND."
  type        = string
}

variable "shards" {
  description = "Number of shards of a provisioned stream."
  type        = number
}

variable "retention_hours" {
  description = "Hours that the stream keeps a record."
  type        = number
}

variable "shard_level_metrics" {
  description = "CloudWatch metrics per shard of a provisioned stream."
  type        = list(string)
}

variable "kms_key_arn" {
  description = "ARN of your own KMS key, or null for the key of AWS."
  type        = string
}
