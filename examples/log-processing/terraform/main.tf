data "aws_caller_identity" "here" {}

locals {
  account = data.aws_caller_identity.here.account_id
  ec2     = var.compute == "ec2"

  # During an outage of DynamoDB or EventBridge, an attempt lasts at least eight minutes: Spark
  # runs a task four times, and each time it repeats its writes for `write_timeout`. So an outage
  # alone never uses up the attempts of an hour.
  attempts      = 10
  write_timeout = 120

  # EMR's managed policy for clusters works only on resources with this tag.
  emr_tags = local.ec2 ? { for-use-with-amazon-emr-managed-policies = "true" } : {}
  tags     = merge({ application = var.name }, local.emr_tags, var.tags)
}

module "stream" {
  source = "./modules/stream"

  name                = var.name
  mode                = var.stream_mode
  shards              = var.shards
  retention_hours     = var.stream_retention_hours
  shard_level_metrics = var.shard_level_metrics
  kms_key_arn         = var.kms_key_arn
}

module "table" {
  source = "./modules/table"

  name        = var.name
  kms_key_arn = var.kms_key_arn
  protected   = var.keep_data
}

module "events" {
  source = "./modules/events"

  name         = var.name
  archive_days = var.alert_days
}

module "bucket" {
  source = "./modules/bucket"

  name           = "${var.name}-${local.account}-${var.region}"
  kms_key_arn    = var.kms_key_arn
  bad_event_days = var.bad_event_days
  job_log_days   = var.job_log_days
  protected      = var.keep_data
}

module "permissions" {
  source = "./modules/permissions"

  region           = var.region
  account          = local.account
  stream_arn       = module.stream.arn
  table_arn        = module.table.arn
  bus_arn          = module.events.bus_arn
  bucket_arn       = module.bucket.arn
  log_group        = local.ec2 ? null : module.job.log_group
  fan_out_consumer = var.fan_out_consumer
  kms_key_arn      = var.kms_key_arn
}

module "job_role" {
  source = "./modules/job_role"

  name          = var.name
  account       = local.account
  ec2           = local.ec2
  job_policy    = module.permissions.job_policy
  reader_policy = module.permissions.reader_policy
}

module "network" {
  source = "./modules/network"

  name       = var.name
  region     = var.region
  cidr       = var.vpc_cidr
  zones      = var.zones
  role_arn   = module.job_role.arn
  ec2        = local.ec2
  statements = module.permissions.statements
}

module "emr_serverless" {
  source = "./modules/emr_serverless"
  count  = local.ec2 ? 0 : 1

  name              = var.name
  release           = var.emr_release
  executors         = var.executors
  subnet_ids        = module.network.subnet_ids
  security_group_id = module.network.workers_security_group_id
  log_group         = module.job.log_group
  job_log_days      = var.job_log_days
}

module "emr_ec2" {
  source = "./modules/emr_ec2"
  count  = local.ec2 ? 1 : 0

  name                 = var.name
  account              = local.account
  release              = var.emr_release
  instance_type        = var.instance_type
  nodes                = var.executors + 1 # one for the driver
  attempts             = local.attempts
  vpc_id               = module.network.vpc_id
  subnet_id            = module.network.subnet_ids[0]
  security_group_id    = module.network.workers_security_group_id
  job_role_arn         = module.job_role.arn
  instance_profile_arn = module.job_role.instance_profile_arn
  log_uri              = "s3://${module.bucket.name}/logs/"
}

module "job" {
  source = "./modules/job"

  name              = var.name
  region            = var.region
  connector_jar     = var.connector_jar
  executors         = var.executors
  stream            = module.stream.name
  table             = module.table.name
  bus               = module.events.bus_name
  bucket            = module.bucket.name
  event_days        = var.event_days
  trigger_seconds   = var.trigger_seconds
  starting_position = var.starting_position
  fan_out_consumer  = var.fan_out_consumer
  attempts          = local.attempts
  write_timeout     = local.write_timeout
}

module "alarms" {
  source = "./modules/alarms"

  name             = var.name
  region           = var.region
  account          = local.account
  email            = var.alarm_email
  stream           = module.stream.name
  fan_out_consumer = var.fan_out_consumer
  behind_seconds   = var.behind_seconds
  table            = module.table.name
  bus              = module.events.bus_name
  rule             = module.events.rule_name
  alert_queue      = module.events.queue_name
  dead_queue       = module.events.dead_queue_name
  job_failed       = local.ec2 ? local.cluster_failed : local.run_failed
}

locals {
  # A job of EMR Serverless fails after ten failed attempts in an hour.
  run_failed = {
    source      = ["aws.emr-serverless"]
    detail-type = ["EMR Serverless Job Run State Change"]
    detail = {
      applicationId = module.emr_serverless[*].application_id
      state         = ["FAILED"]
    }
  }

  cluster_failed = {
    source      = ["aws.emr"]
    detail-type = ["EMR Step Status Change", "EMR Cluster State Change"]
    detail = {
      clusterId = module.emr_ec2[*].cluster_id
      state     = ["FAILED", "TERMINATED_WITH_ERRORS"]
    }
  }
}
