# Workers run in the given subnets. They need a way to AWS from there: a NAT gateway, or endpoints
# for Kinesis, DynamoDB, EventBridge, S3, CloudWatch Logs and STS.

data "aws_subnet" "first" {
  id = var.subnet_ids[0]
}

resource "aws_security_group" "job" {
  name        = var.name
  description = "Driver and executors of the job"
  vpc_id      = data.aws_subnet.first.vpc_id
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
  description                  = "To driver and executors"
  ip_protocol                  = "-1"
}

resource "aws_vpc_security_group_egress_rule" "aws" {
  security_group_id = aws_security_group.job.id
  cidr_ipv4         = "0.0.0.0/0"
  description       = "To the services of AWS"
  ip_protocol       = "tcp"
  from_port         = 443
  to_port           = 443
}
