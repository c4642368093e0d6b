variable "name" {
  description = "Name of the table."
  type        = string
}

variable "kms_key_arn" {
  description = "ARN of your own KMS key, or null for the key of AWS."
  type        = string
}

variable "protected" {
  description = "Whether the table cannot be deleted."
  type        = bool
}
