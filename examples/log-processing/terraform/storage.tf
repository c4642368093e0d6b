# The stream, the table, and the bucket with code, checkpoints, bad events and logs.

resource "aws_kinesis_stream" "events" {
  name             = var.name
  shard_count      = var.shards
  retention_period = var.stream_retention_hours
  encryption_type  = "KMS"
  kms_key_id       = "alias/aws/kinesis"

  stream_mode_details {
    stream_mode = var.shards == null ? "ON_DEMAND" : "PROVISIONED"
  }
}

resource "aws_dynamodb_table" "events" {
  name                        = var.name
  billing_mode                = "PAY_PER_REQUEST"
  hash_key                    = "pk"
  range_key                   = "sk"
  deletion_protection_enabled = var.keep_data

  attribute {
    name = "pk"
    type = "S"
  }

  attribute {
    name = "sk"
    type = "S"
  }

  ttl {
    attribute_name = "expiresAt"
    enabled        = true
  }

  point_in_time_recovery {
    enabled = true
  }
}

# AWS encrypts a bucket, and blocks public access to it, unless told otherwise.
resource "aws_s3_bucket" "files" {
  bucket        = "${var.name}-${local.account}-${var.region}"
  force_destroy = !var.keep_data
}

# Code and checkpoints never expire: without its checkpoint, a query starts from the beginning.
resource "aws_s3_bucket_lifecycle_configuration" "files" {
  bucket = aws_s3_bucket.files.id

  dynamic "rule" {
    for_each = { "bad-events/" = 90, "logs/" = local.job_log_days }

    content {
      id     = trimsuffix(rule.key, "/")
      status = "Enabled"

      filter {
        prefix = rule.key
      }

      expiration {
        days = rule.value
      }
    }
  }
}

resource "aws_s3_bucket_policy" "files" {
  bucket = aws_s3_bucket.files.id

  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Sid       = "OnlyWithTls"
      Effect    = "Deny"
      Principal = "*"
      Action    = ["s3:*"]
      Resource  = [aws_s3_bucket.files.arn, "${aws_s3_bucket.files.arn}/*"]
      Condition = { Bool = { "aws:SecureTransport" = "false" } }
    }]
  })
}
