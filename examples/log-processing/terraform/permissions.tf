# What the job may do, and what people who query may do.

locals {
  account   = data.aws_caller_identity.here.account_id
  partition = split(":", aws_kinesis_stream.events.arn)[1]
  logs_arn  = "arn:${local.partition}:logs:${var.region}:${local.account}:log-group"
  consumers = var.fan_out_consumer == null ? [] : [var.fan_out_consumer]

  # Per service. The endpoints of the network allow the same.
  allowed = {
    kinesis = concat(
      [{
        Sid    = "ReadTheStream"
        Effect = "Allow"
        Action = [
          "kinesis:DescribeStreamSummary",
          "kinesis:ListShards",
          "kinesis:GetShardIterator",
          "kinesis:GetRecords",
        ]
        Resource = [aws_kinesis_stream.events.arn]
      }],
      [for _ in local.consumers : {
        Sid      = "RegisterTheConsumer"
        Effect   = "Allow"
        Action   = ["kinesis:RegisterStreamConsumer", "kinesis:DescribeStreamConsumer"]
        Resource = [aws_kinesis_stream.events.arn]
      }],
      [for consumer in local.consumers : {
        Sid      = "ReadWithTheConsumer"
        Effect   = "Allow"
        Action   = ["kinesis:SubscribeToShard", "kinesis:DescribeStreamConsumer"]
        Resource = ["${aws_kinesis_stream.events.arn}/consumer/${consumer}:*"]
      }],
    )

    dynamodb = [{
      Sid      = "StoreEvents"
      Effect   = "Allow"
      Action   = ["dynamodb:DescribeTable", "dynamodb:BatchWriteItem"]
      Resource = [aws_dynamodb_table.events.arn]
    }]

    events = [{
      Sid      = "PublishAlerts"
      Effect   = "Allow"
      Action   = ["events:DescribeEventBus", "events:PutEvents"]
      Resource = [aws_cloudwatch_event_bus.alerts.arn]
    }]

    s3 = [
      {
        Sid      = "ListFiles"
        Effect   = "Allow"
        Action   = ["s3:ListBucket"]
        Resource = [aws_s3_bucket.files.arn]
      },
      {
        Sid      = "ReadCode"
        Effect   = "Allow"
        Action   = ["s3:GetObject"]
        Resource = ["${aws_s3_bucket.files.arn}/code/*"]
      },
      {
        Sid    = "WriteFiles"
        Effect = "Allow"
        Action = ["s3:GetObject", "s3:PutObject", "s3:DeleteObject", "s3:AbortMultipartUpload"]
        Resource = [
          for folder in ["checkpoint", "bad-events", "logs"] : "${aws_s3_bucket.files.arn}/${folder}/*"
        ]
      },
    ]

    logs = [
      {
        Sid      = "FindTheLogGroup"
        Effect   = "Allow"
        Action   = ["logs:DescribeLogGroups"]
        Resource = ["${local.logs_arn}:*"]
      },
      {
        Sid      = "WriteTheLogGroup"
        Effect   = "Allow"
        Action   = ["logs:CreateLogStream", "logs:DescribeLogStreams", "logs:PutLogEvents"]
        Resource = ["${local.logs_arn}:${local.log_group}:*"]
      },
    ]
  }
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
    Version   = "2012-10-17"
    Statement = flatten(values(local.allowed))
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
