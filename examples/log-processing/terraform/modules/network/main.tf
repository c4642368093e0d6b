# Private subnets without a way to the internet: the job reaches AWS only through endpoints.

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
}

resource "aws_vpc" "job" {
  cidr_block           = var.cidr
  enable_dns_hostnames = true
  enable_dns_support   = true
  tags                 = { Name = var.name }
}

# Nothing may use the VPC's default group by accident.
resource "aws_default_security_group" "unused" {
  vpc_id = aws_vpc.job.id
}

resource "aws_subnet" "private" {
  count = length(local.zones)

  vpc_id            = aws_vpc.job.id
  availability_zone = local.zones[count.index]
  cidr_block        = cidrsubnet(var.cidr, 4, count.index)
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
