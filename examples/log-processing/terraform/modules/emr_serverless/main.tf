resource "aws_emrserverless_application" "job" {
  name          = var.name
  release_label = var.release
  type          = "spark"
  architecture  = "X86_64"

  # The driver and the executors: a mistake in the job's options cannot cost more.
  maximum_capacity {
    cpu    = "${2 * (var.executors + 1)} vCPU"
    memory = "${8 * (var.executors + 1)} GB"
  }

  auto_start_configuration {
    enabled = true
  }

  auto_stop_configuration {
    enabled              = true
    idle_timeout_minutes = 15
  }

  network_configuration {
    subnet_ids         = var.subnet_ids
    security_group_ids = [var.security_group_id]
  }
}

resource "aws_cloudwatch_log_group" "job" {
  name              = var.log_group
  retention_in_days = var.job_log_days
}
