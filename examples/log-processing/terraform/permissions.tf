# What the job may do, and what people who query may do.

locals {
  account   = data.aws_caller_identity.here.account_id
  partition = split(":", aws_kinesis_stream.events.arn)[1]
  logs_arn  = "arn:${local.partition}:logs:${var.region}:${local.account}:log-group"
}

resource "aws_iam_role" "job" {
  name = "${var.name}-job"

  assume_role_policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Principal = { Service = "emr-serverless.amazonaws.com" }
      Action    = ["sts:AssumeRole"]
      Condition = { StringEquals = { "aws:SourceAccount" = local.account } }
    }]
  })
}

resource "aws_iam_role_policy" "job" {
  name = "job"
  role = aws_iam_role.job.id

  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [for sid, it in {
      ReadTheStream = [aws_kinesis_stream.events.arn, [
        "kinesis:DescribeStreamSummary",
        "kinesis:ListShards",
        "kinesis:GetShardIterator",
        "kinesis:GetRecords",
      ]]
      StoreEvents   = [aws_dynamodb_table.events.arn, ["dynamodb:BatchWriteItem"]]
      PublishAlerts = [aws_cloudwatch_event_bus.alerts.arn, ["events:PutEvents"]]
      ListFiles     = [aws_s3_bucket.files.arn, ["s3:ListBucket"]]
      ReadCode      = ["${aws_s3_bucket.files.arn}/code/*", ["s3:GetObject"]]
      WriteFiles = [
        [for it in ["checkpoint", "bad-events", "logs"] : "${aws_s3_bucket.files.arn}/${it}/*"],
        ["s3:GetObject", "s3:PutObject", "s3:DeleteObject", "s3:AbortMultipartUpload"],
      ]
      FindTheLogGroup = ["${local.logs_arn}:*", ["logs:DescribeLogGroups"]]
      WriteTheLogGroup = [
        "${local.logs_arn}:${local.log_group}:*",
        ["logs:CreateLogStream", "logs:DescribeLogStreams", "logs:PutLogEvents"],
      ]
    } : { Sid = sid, Effect = "Allow", Action = it[1], Resource = flatten([it[0]]) }]
  })
}

resource "aws_iam_policy" "reader" {
  name        = "${var.name}-reader"
  description = "Queries of the events of ${var.name}"

  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Sid      = "QueryEvents"
      Effect   = "Allow"
      Action   = ["dynamodb:Query"]
      Resource = [aws_dynamodb_table.events.arn]
    }]
  })
}
