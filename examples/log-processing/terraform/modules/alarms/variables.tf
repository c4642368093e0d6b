variable "name" {
  description = "Name of the dashboard. The names of the alarms begin with it."
  type        = string
}

variable "region" {
  description = "AWS region of the metrics."
  type        = string
}

variable "account" {
  description = "Number of the AWS account."
  type        = string
}

variable "email" {
  description = "E-mail address that receives the alarms, or null."
  type        = string
}

variable "stream" {
  description = "Name of the stream."
  type        = string
}

variable "fan_out_consumer" {
  description = "Name of the registered consumer, or null if the job polls."
  type        = string
}

variable "behind_seconds" {
  description = "Age in seconds of the oldest unread record from which the alarm `behind` is raised."
  type        = number
}

variable "table" {
  description = "Name of the table."
  type        = string
}

variable "bus" {
  description = "Name of the event bus of the alerts."
  type        = string
}

variable "rule" {
  description = "Name of the rule that sends alerts to the queue."
  type        = string
}

variable "alert_queue" {
  description = "Name of the queue with the alerts."
  type        = string
}

variable "dead_queue" {
  description = "Name of the queue with alerts that could not be delivered or handled."
  type        = string
}

variable "job_failed" {
  description = "Pattern of EMR's event that the job failed."
  type = object({
    source      = list(string)
    detail-type = list(string)
    detail      = map(list(string))
  })
}
