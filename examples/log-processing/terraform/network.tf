# Private subnets without a way to the internet: the job reaches AWS only through endpoints.
# EMR Serverless needs no endpoint of its own: AWS controls the workers from outside of the VPC.

data "aws_availability_zones" "here" {
  state = "available"

  filter {
    name   = "opt-in-status"
    values = ["opt-in-not-required"]
  }
}

locals {
  first_two = slice(data.aws_availability_zones.here.names, 0, 2)
  zones     = length(var.zones) == 0 ? local.first_two : var.zones

  # Endpoints of the type Gateway know roles only as a condition.
  endpoint_policies = {
    for service, statements in local.allowed : service => jsonencode({
      Version = "2012-10-17"
      Statement = [for it in statements : merge(it, {
        Principal = "*"
        Condition = { ArnEquals = { "aws:PrincipalArn" = aws_iam_role.job.arn } }
      })]
    })
  }
}

resource "aws_vpc" "job" {
  cidr_block           = "10.60.0.0/20"
  enable_dns_hostnames = true
  enable_dns_support   = true
  tags                 = { Name = var.name }
}

resource "aws_subnet" "private" {
  count = length(local.zones)

  vpc_id            = aws_vpc.job.id
  availability_zone = local.zones[count.index]
  cidr_block        = cidrsubnet(aws_vpc.job.cidr_block, 4, count.index)
  tags              = { Name = "${var.name}-${local.zones[count.index]}" }
}

resource "aws_route_table" "private" {
  vpc_id = aws_vpc.job.id
  tags   = { Name = var.name }
}

resource "aws_route_table_association" "private" {
  count = length(local.zones)

  subnet_id      = aws_subnet.private[count.index].id
  route_table_id = aws_route_table.private.id
}

resource "aws_vpc_endpoint" "interface" {
  for_each = { kinesis-streams = "kinesis", events = "events", logs = "logs" }

  vpc_id              = aws_vpc.job.id
  vpc_endpoint_type   = "Interface"
  service_name        = "com.amazonaws.${var.region}.${each.key}"
  subnet_ids          = aws_subnet.private[*].id
  security_group_ids  = [aws_security_group.job.id]
  private_dns_enabled = true
  policy              = local.endpoint_policies[each.value]
}

resource "aws_vpc_endpoint" "gateway" {
  for_each = toset(["s3", "dynamodb"])

  vpc_id            = aws_vpc.job.id
  vpc_endpoint_type = "Gateway"
  service_name      = "com.amazonaws.${var.region}.${each.key}"
  route_table_ids   = [aws_route_table.private.id]
  policy            = local.endpoint_policies[each.key]
}

resource "aws_security_group" "job" {
  name        = var.name
  description = "Driver and executors of the job, and the endpoints that they call"
  vpc_id      = aws_vpc.job.id
}

resource "aws_vpc_security_group_ingress_rule" "within" {
  security_group_id            = aws_security_group.job.id
  referenced_security_group_id = aws_security_group.job.id
  description                  = "From driver and executors"
  ip_protocol                  = "-1"
}

resource "aws_vpc_security_group_egress_rule" "within" {
  security_group_id            = aws_security_group.job.id
  referenced_security_group_id = aws_security_group.job.id
  description                  = "To driver, executors and endpoints"
  ip_protocol                  = "-1"
}

resource "aws_vpc_security_group_egress_rule" "gateways" {
  for_each = aws_vpc_endpoint.gateway

  security_group_id = aws_security_group.job.id
  prefix_list_id    = each.value.prefix_list_id
  description       = "The service ${each.key}"
  ip_protocol       = "tcp"
  from_port         = 443
  to_port           = 443
}
