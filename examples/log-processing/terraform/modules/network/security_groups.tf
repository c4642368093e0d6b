resource "aws_security_group" "workers" {
  name        = "${var.name}-workers"
  description = "Driver and executors of the job"
  vpc_id      = aws_vpc.job.id
}

resource "aws_security_group" "endpoints" {
  name        = "${var.name}-endpoints"
  description = "Interface endpoints that the job calls"
  vpc_id      = aws_vpc.job.id
}

resource "aws_vpc_security_group_ingress_rule" "from_workers" {
  security_group_id            = aws_security_group.workers.id
  referenced_security_group_id = aws_security_group.workers.id
  description                  = "Spark, from driver and executors"
  ip_protocol                  = "-1"
}

resource "aws_vpc_security_group_egress_rule" "to_workers" {
  security_group_id            = aws_security_group.workers.id
  referenced_security_group_id = aws_security_group.workers.id
  description                  = "Spark, to driver and executors"
  ip_protocol                  = "-1"
}

resource "aws_vpc_security_group_egress_rule" "to_endpoints" {
  security_group_id            = aws_security_group.workers.id
  referenced_security_group_id = aws_security_group.endpoints.id
  description                  = "Kinesis, EventBridge and CloudWatch"
  ip_protocol                  = "tcp"
  from_port                    = 443
  to_port                      = 443
}

resource "aws_vpc_security_group_ingress_rule" "endpoints_from_workers" {
  security_group_id            = aws_security_group.endpoints.id
  referenced_security_group_id = aws_security_group.workers.id
  description                  = "Calls of the job"
  ip_protocol                  = "tcp"
  from_port                    = 443
  to_port                      = 443
}

resource "aws_vpc_security_group_egress_rule" "to_gateways" {
  for_each = aws_vpc_endpoint.gateway

  security_group_id = aws_security_group.workers.id
  prefix_list_id    = each.value.prefix_list_id
  description       = "The service ${each.key}"
  ip_protocol       = "tcp"
  from_port         = 443
  to_port           = 443
}
