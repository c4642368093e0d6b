variable "name" {
  description = "Name of the job, of its checkpoint and of its progress in the table."
  type        = string
}

variable "region" {
  description = "AWS region of the stream, the table and the bus."
  type        = string
}

variable "connector_jar" {
  description = "File name of the connector's jar."
  type        = string
}

variable "executors" {
  description = "Number of executors."
  type        = number
}

variable "stream" {
  description = "Name of the stream that the job reads."
  type        = string
}

variable "table" {
  description = "Name of the table with the events."
  type        = string
}

variable "bus" {
  description = "Name of the event bus that receives the alerts."
  type        = string
}

variable "bucket" {
  description = "Name of the bucket with code, checkpoint, bad events and logs."
  type        = string
}

variable "event_days" {
  description = "Days after its timestamp when DynamoDB removes an event."
  type        = number
}

variable "trigger_seconds" {
  description = "Seconds from the start of one batch to the start of the next."
  type        = number
}

variable "attempts" {
  description = "Number of failed attempts in an hour after which EMR or YARN gives up."
  type        = number
}

variable "write_timeout" {
  description = "Seconds that a task repeats a write that DynamoDB or EventBridge temporarily rejects."
  type        = number
}

variable "starting_position" {
  description = "Where the first run begins to read the stream."
  type        = string
}

variable "fan_out_consumer" {
  description = "Name of the registered consumer, or null if the job polls."
  type        = string
}
