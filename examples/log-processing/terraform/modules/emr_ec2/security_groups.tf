# EMR reaches the nodes of a private subnet through this group.
resource "aws_security_group" "service" {
  name                   = "${var.name}-emr-service"
  description            = "EMR's access to the nodes"
  vpc_id                 = var.vpc_id
  revoke_rules_on_delete = true
}

resource "aws_vpc_security_group_egress_rule" "service_to_nodes" {
  security_group_id            = aws_security_group.service.id
  referenced_security_group_id = var.security_group_id
  description                  = "EMR to the nodes"
  ip_protocol                  = "tcp"
  from_port                    = 8443
  to_port                      = 8443
}

resource "aws_vpc_security_group_ingress_rule" "nodes_from_service" {
  security_group_id            = var.security_group_id
  referenced_security_group_id = aws_security_group.service.id
  description                  = "EMR to the nodes"
  ip_protocol                  = "tcp"
  from_port                    = 8443
  to_port                      = 8443
}

resource "aws_vpc_security_group_egress_rule" "nodes_to_service" {
  security_group_id            = var.security_group_id
  referenced_security_group_id = aws_security_group.service.id
  description                  = "Nodes to EMR"
  ip_protocol                  = "tcp"
  from_port                    = 9443
  to_port                      = 9443
}

resource "aws_vpc_security_group_ingress_rule" "service_from_nodes" {
  security_group_id            = aws_security_group.service.id
  referenced_security_group_id = var.security_group_id
  description                  = "Nodes to EMR"
  ip_protocol                  = "tcp"
  from_port                    = 9443
  to_port                      = 9443
}
