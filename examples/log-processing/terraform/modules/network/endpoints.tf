# EMR Serverless needs no endpoint of its own: AWS controls the workers from outside of the VPC.

locals {
  interfaces = merge(
    { kinesis-streams = "kinesis", events = "events" },
    var.ec2 ? {} : { logs = "logs" },
  )

  # What a new cluster downloads from AWS before the job's role is known: EMR's and Linux' packages.
  packages = !var.ec2 ? [] : [{
    Sid       = "PackagesOfTheCluster"
    Effect    = "Allow"
    Principal = "*"
    Action    = ["s3:GetObject"]
    Resource = [
      "arn:aws:s3:::${var.region}.elasticmapreduce/*",
      "arn:aws:s3:::repo.${var.region}.emr.amazonaws.com/*",
      "arn:aws:s3:::al2023-repos-${var.region}-de612dc2/*",
    ]
  }]

  # Endpoints of the type Gateway know roles only as a condition.
  policies = {
    for service, statements in var.statements : service => jsonencode({
      Version = "2012-10-17"
      Statement = concat(
        [for it in statements : merge(it, {
          Principal = "*"
          Condition = { ArnEquals = { "aws:PrincipalArn" = var.role_arn } }
        })],
        service == "s3" ? local.packages : [],
      )
    })
  }
}

resource "aws_vpc_endpoint" "interface" {
  for_each = local.interfaces

  vpc_id              = aws_vpc.job.id
  vpc_endpoint_type   = "Interface"
  service_name        = "com.amazonaws.${var.region}.${each.key}"
  subnet_ids          = aws_subnet.private[*].id
  security_group_ids  = [aws_security_group.endpoints.id]
  private_dns_enabled = true
  policy              = local.policies[each.value]
  tags                = { Name = "${var.name}-${each.key}" }
}

resource "aws_vpc_endpoint" "gateway" {
  for_each = toset(["s3", "dynamodb"])

  vpc_id            = aws_vpc.job.id
  vpc_endpoint_type = "Gateway"
  service_name      = "com.amazonaws.${var.region}.${each.key}"
  route_table_ids   = [aws_route_table.private.id]
  policy            = local.policies[each.key]
  tags              = { Name = "${var.name}-${each.key}" }
}
