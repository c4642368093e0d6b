resource "aws_kinesis_stream" "events" {
  name                = var.name
  shard_count         = var.mode == "PROVISIONED" ? var.shards : null
  retention_period    = var.retention_hours
  shard_level_metrics = var.mode == "PROVISIONED" ? var.shard_level_metrics : []
  encryption_type     = "KMS"
  kms_key_id          = coalesce(var.kms_key_arn, "alias/aws/kinesis")

  stream_mode_details {
    stream_mode = var.mode
  }
}
