variable "name" {
  description = "Name of the bucket."
  type        = string
}

variable "kms_key_arn" {
  description = "ARN of your own KMS key, or null for the key of S3."
  type        = string
}

variable "bad_event_days" {
  description = "Days that the bucket keeps bad events."
  type        = number
}

variable "job_log_days" {
  description = "Days that the bucket keeps logs of the job."
  type        = number
}

variable "protected" {
  description = "Whether a bucket with files in it cannot be deleted."
  type        = bool
}
