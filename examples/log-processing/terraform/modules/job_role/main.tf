locals {
  service    = var.ec2 ? "ec2.amazonaws.com" : "emr-serverless.amazonaws.com"
  of_account = { Condition = { StringEquals = { "aws:SourceAccount" = var.account } } }
}

resource "aws_iam_role" "job" {
  name = "${var.name}-job"

  assume_role_policy = jsonencode({
    Version = "2012-10-17"
    Statement = [merge({
      Sid       = "OfTheJob"
      Effect    = "Allow"
      Principal = { Service = local.service }
      Action    = ["sts:AssumeRole"]
    }, var.ec2 ? {} : local.of_account)]
  })
}

resource "aws_iam_role_policy" "job" {
  name   = "job"
  role   = aws_iam_role.job.id
  policy = var.job_policy
}

resource "aws_iam_instance_profile" "nodes" {
  count = var.ec2 ? 1 : 0

  name = "${var.name}-nodes"
  role = aws_iam_role.job.name
}

resource "aws_iam_policy" "reader" {
  name        = "${var.name}-reader"
  description = "Queries of the events of ${var.name}"
  policy      = var.reader_policy
}
