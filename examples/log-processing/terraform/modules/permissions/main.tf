# Nothing here calls AWS: this module turns ARNs into policies, and the tests evaluate it.

locals {
  partition    = split(":", var.stream_arn)[1]
  fan_out      = var.fan_out_consumer == null ? [] : [var.fan_out_consumer]
  own_key      = var.kms_key_arn == null ? [] : [var.kms_key_arn]
  log_groups   = "arn:${local.partition}:logs:${var.region}:${var.account}:log-group"
  job_services = ["kinesis", "dynamodb", "s3"]

  # Per service, what the job may do. The endpoints of the network allow the same.
  statements = {
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
        Resource = [var.stream_arn]
      }],
      [for consumer in local.fan_out : {
        Sid      = "RegisterTheConsumer"
        Effect   = "Allow"
        Action   = ["kinesis:RegisterStreamConsumer", "kinesis:DescribeStreamConsumer"]
        Resource = [var.stream_arn]
      }],
      [for consumer in local.fan_out : {
        Sid      = "ReadWithTheConsumer"
        Effect   = "Allow"
        Action   = ["kinesis:SubscribeToShard", "kinesis:DescribeStreamConsumer"]
        Resource = ["${var.stream_arn}/consumer/${consumer}:*"]
      }],
    )

    dynamodb = [{
      Sid    = "StoreEvents"
      Effect = "Allow"
      Action = [
        "dynamodb:DescribeTable",
        "dynamodb:DescribeTimeToLive",
        "dynamodb:BatchWriteItem",
      ]
      Resource = [var.table_arn]
    }]

    events = [{
      Sid      = "PublishAlerts"
      Effect   = "Allow"
      Action   = ["events:DescribeEventBus", "events:PutEvents"]
      Resource = [var.bus_arn]
    }]

    s3 = [
      {
        Sid      = "ListFiles"
        Effect   = "Allow"
        Action   = ["s3:ListBucket"]
        Resource = [var.bucket_arn]
      },
      {
        Sid      = "ReadCode"
        Effect   = "Allow"
        Action   = ["s3:GetObject"]
        Resource = ["${var.bucket_arn}/code/*"]
      },
      {
        Sid      = "KeepCheckpointAndBadEvents"
        Effect   = "Allow"
        Action   = ["s3:GetObject", "s3:PutObject", "s3:DeleteObject", "s3:AbortMultipartUpload"]
        Resource = ["${var.bucket_arn}/checkpoint/*", "${var.bucket_arn}/bad-events/*"]
      },
      {
        Sid      = "WriteLogsOfTheJob"
        Effect   = "Allow"
        Action   = ["s3:GetObject", "s3:PutObject"]
        Resource = ["${var.bucket_arn}/logs/*"]
      },
    ]

    logs = var.log_group == null ? [] : [
      {
        Sid      = "FindTheLogGroup"
        Effect   = "Allow"
        Action   = ["logs:DescribeLogGroups"]
        Resource = ["${local.log_groups}:*"]
      },
      {
        Sid      = "WriteTheLogGroup"
        Effect   = "Allow"
        Action   = ["logs:CreateLogStream", "logs:DescribeLogStreams", "logs:PutLogEvents"]
        Resource = ["${local.log_groups}:${var.log_group}:*"]
      },
    ]
  }

  # Only through the services that hold the data, never with the key itself.
  job_key = [for key in local.own_key : {
    Sid      = "UseTheKey"
    Effect   = "Allow"
    Action   = ["kms:Decrypt", "kms:GenerateDataKey"]
    Resource = [key]
    Condition = { StringEquals = {
      "kms:ViaService" = [for it in local.job_services : "${it}.${var.region}.amazonaws.com"]
    } }
  }]

  reader_key = [for key in local.own_key : {
    Sid       = "UseTheKey"
    Effect    = "Allow"
    Action    = ["kms:Decrypt"]
    Resource  = [key]
    Condition = { StringEquals = { "kms:ViaService" = ["dynamodb.${var.region}.amazonaws.com"] } }
  }]

  query = [{
    Sid      = "QueryEvents"
    Effect   = "Allow"
    Action   = ["dynamodb:Query"]
    Resource = [var.table_arn]
  }]
}
