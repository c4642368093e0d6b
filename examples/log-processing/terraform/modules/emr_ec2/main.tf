resource "aws_emr_cluster" "job" {
  name          = var.name
  release_label = var.release
  applications  = ["Spark"]
  service_role  = aws_iam_role.emr.arn
  log_uri       = var.log_uri

  # The job runs until you stop it, so the cluster waits for it.
  keep_job_flow_alive_when_no_steps = true
  termination_protection            = false

  # The step of the job runs for as long as the job. A second step can stop it.
  step_concurrency_level = 2

  # YARN's own limit is 2, and caps Spark's.
  configurations_json = jsonencode([{
    Classification = "yarn-site"
    Properties     = { "yarn.resourcemanager.am.max-attempts" = tostring(var.attempts) }
  }])

  ec2_attributes {
    subnet_id                         = var.subnet_id
    instance_profile                  = var.instance_profile_arn
    emr_managed_master_security_group = var.security_group_id
    emr_managed_slave_security_group  = var.security_group_id
    service_access_security_group     = aws_security_group.service.id
  }

  master_instance_group {
    instance_type = var.instance_type
  }

  core_instance_group {
    instance_type  = var.instance_type
    instance_count = var.nodes
  }

  depends_on = [
    aws_iam_role_policy.pass_the_job_role,
    aws_iam_role_policy_attachment.emr,
    aws_vpc_security_group_egress_rule.service_to_nodes,
    aws_vpc_security_group_ingress_rule.nodes_from_service,
    aws_vpc_security_group_egress_rule.nodes_to_service,
    aws_vpc_security_group_ingress_rule.service_from_nodes,
  ]
}

resource "aws_iam_role" "emr" {
  name = "${var.name}-emr"

  assume_role_policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Sid       = "OfEmr"
      Effect    = "Allow"
      Principal = { Service = "elasticmapreduce.amazonaws.com" }
      Action    = ["sts:AssumeRole"]
      Condition = { StringEquals = { "aws:SourceAccount" = var.account } }
    }]
  })
}

# It starts and stops only instances with the tag for-use-with-amazon-emr-managed-policies.
resource "aws_iam_role_policy_attachment" "emr" {
  role       = aws_iam_role.emr.name
  policy_arn = "arn:aws:iam::aws:policy/service-role/AmazonEMRServicePolicy_v2"
}

resource "aws_iam_role_policy" "pass_the_job_role" {
  name = "pass-the-job-role"
  role = aws_iam_role.emr.id

  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Sid       = "PassTheJobRole"
      Effect    = "Allow"
      Action    = ["iam:PassRole"]
      Resource  = [var.job_role_arn]
      Condition = { StringEquals = { "iam:PassedToService" = "ec2.amazonaws.com" } }
    }]
  })
}
