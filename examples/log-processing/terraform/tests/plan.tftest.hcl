# Plans against the schema of the AWS provider, without AWS: `terraform test`.

mock_provider "aws" {
  mock_data "aws_caller_identity" {
    defaults = { account_id = "123456789012" }
  }
  mock_data "aws_subnet" {
    defaults = { vpc_id = "vpc-1" }
  }
  mock_resource "aws_kinesis_stream" {
    defaults = { arn = "arn:aws:kinesis:eu-west-1:123456789012:stream/log-processing" }
  }
  mock_resource "aws_dynamodb_table" {
    defaults = { arn = "arn:aws:dynamodb:eu-west-1:123456789012:table/log-processing" }
  }
  mock_resource "aws_cloudwatch_event_bus" {
    defaults = { arn = "arn:aws:events:eu-west-1:123456789012:event-bus/log-processing" }
  }
  mock_resource "aws_cloudwatch_event_rule" {
    defaults = { arn = "arn:aws:events:eu-west-1:123456789012:rule/log-processing" }
  }
  mock_resource "aws_s3_bucket" {
    defaults = { arn = "arn:aws:s3:::log-processing-123456789012-eu-west-1" }
  }
  mock_resource "aws_sqs_queue" {
    defaults = {
      arn = "arn:aws:sqs:eu-west-1:123456789012:log-processing"
      url = "https://sqs.eu-west-1.amazonaws.com/123456789012/log-processing"
    }
  }
  mock_resource "aws_sns_topic" {
    defaults = { arn = "arn:aws:sns:eu-west-1:123456789012:log-processing" }
  }
  mock_resource "aws_iam_role" {
    defaults = { arn = "arn:aws:iam::123456789012:role/log-processing-job" }
  }
}

variables {
  region     = "eu-west-1"
  subnet_ids = ["subnet-1", "subnet-2"]
}

run "defaults" {
  assert {
    condition     = local.mb_per_batch / var.trigger_seconds >= var.shards
    error_message = "The limit of a micro-batch is less than services can write."
  }
  assert {
    condition     = local.arguments[index(local.arguments, "--max-mb-per-batch") + 1] == tostring(local.mb_per_batch)
    error_message = "The limit of a micro-batch is not passed."
  }
  assert {
    condition     = local.stop_timeout < local.grace_seconds && strcontains(output.stop_job, "--shutdown-grace-period-in-seconds ${local.grace_seconds}")
    error_message = "EMR kills the job before its micro-batch may end."
  }
  assert {
    condition     = aws_emrserverless_application.job.maximum_capacity[0].cpu == "6 vCPU"
    error_message = "The application has room for the driver and two executors only."
  }
  assert {
    condition = alltrue([
      for it in ["silent-store", "silent-alerts"] : aws_cloudwatch_metric_alarm.each[it].treat_missing_data == "breaching"
    ])
    error_message = "A job that does not run raises no alarm."
  }
  assert {
    condition = alltrue([for it in jsondecode(aws_iam_role_policy.job.policy).Statement :
      alltrue([for action in it.Action : !strcontains(action, "*")]) &&
      alltrue([for one in it.Resource : strcontains(one, var.name) || it.Sid == "FindTheLogGroup"])
    ])
    error_message = "A statement of the job allows more than it says."
  }
}

run "busy" {
  variables {
    shards            = 64
    executors         = 16
    trigger_seconds   = 0
    max_mb_per_second = 100
    alarm_email       = "on-call@example.com"
    keep_data         = false
  }

  assert {
    condition     = local.mb_per_batch == 1000
    error_message = "Without a trigger, a micro-batch has what ten seconds may bring."
  }
  assert {
    condition     = aws_s3_bucket.files.force_destroy && !aws_dynamodb_table.events.deletion_protection_enabled
    error_message = "The data cannot be deleted."
  }
  assert {
    condition     = length(aws_sns_topic_subscription.email) == 1
    error_message = "The address is not used."
  }
}

run "on_demand" {
  variables {
    shards = null
  }

  assert {
    condition     = aws_kinesis_stream.events.stream_mode_details[0].stream_mode == "ON_DEMAND" && local.mb_per_batch == 200
    error_message = "An on-demand stream has no shards, and a limit of 20 MB per second."
  }
}

run "a_wrong_name_is_refused" {
  command = plan

  variables {
    name = "Logs"
  }

  expect_failures = [var.name]
}
