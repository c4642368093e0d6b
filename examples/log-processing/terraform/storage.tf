# The stream, the table, and the bucket with code, checkpoints, bad events and logs.

resource "aws_kinesis_stream" "events" {
  name                      = var.name
  shard_count               = var.shards
  retention_period          = var.stream_retention_hours
  encryption_type           = "KMS"
  kms_key_id                = coalesce(var.kms_key_arn, "alias/aws/kinesis")
  enforce_consumer_deletion = true # the job registers a consumer, which would block `destroy`

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

  server_side_encryption {
    enabled     = var.kms_key_arn != null
    kms_key_arn = var.kms_key_arn
  }
}

resource "aws_s3_bucket" "files" {
  bucket        = "${var.name}-${local.account}-${var.region}"
  force_destroy = !var.keep_data
}

resource "aws_s3_bucket_public_access_block" "files" {
  bucket                  = aws_s3_bucket.files.id
  block_public_acls       = true
  block_public_policy     = true
  ignore_public_acls      = true
  restrict_public_buckets = true
}

resource "aws_s3_bucket_server_side_encryption_configuration" "files" {
  bucket = aws_s3_bucket.files.id

  rule {
    bucket_key_enabled = true

    apply_server_side_encryption_by_default {
      sse_algorithm     = var.kms_key_arn == null ? "AES256" : "aws:kms"
      kms_master_key_id = var.kms_key_arn
    }
  }
}

# Code and checkpoints never expire: without its checkpoint, a query starts from the beginning.
resource "aws_s3_bucket_lifecycle_configuration" "files" {
  bucket = aws_s3_bucket.files.id

  dynamic "rule" {
    for_each = { "bad-events/" = var.bad_event_days, "logs/" = local.job_log_days }

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
  bucket     = aws_s3_bucket.files.id
  depends_on = [aws_s3_bucket_public_access_block.files]

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
