variable "name" {
  description = "Name of the event bus. The names of its rule and queues begin with it."
  type        = string
}

variable "archive_days" {
  description = "Days that the archive keeps alerts."
  type        = number
}
