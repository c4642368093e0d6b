# The EMR Serverless application, and the commands that upload, start and stop the job.

locals {
  python       = "./environment/bin/python"
  jar          = "spark-kinesis_2.12-0.1.0.jar"
  code         = "s3://${aws_s3_bucket.files.bucket}/code"
  log_group    = "/emr-serverless/${var.name}"
  job_log_days = 30

  # At most what a shard gives to its readers. A smaller limit than what services write, times the
  # seconds of the trigger, would let the job fall behind for good, whatever the executors. A short
  # trigger does not make the micro-batches of a job that catches up short: each has fixed costs.
  on_demand_mb  = 20
  mb_per_second = coalesce(var.max_mb_per_second, var.shards == null ? local.on_demand_mb : 2 * coalesce(var.shards, 1))
  mb_per_batch  = ceil(local.mb_per_second * max(var.trigger_seconds, 10))

  # A micro-batch may end before EMR kills the job.
  grace_seconds = 120
  stop_timeout  = local.grace_seconds - 20

  arguments = [
    "--name", var.name,
    "--region", var.region,
    "--stream", aws_kinesis_stream.events.name,
    "--table", aws_dynamodb_table.events.name,
    "--bus", aws_cloudwatch_event_bus.alerts.name,
    "--checkpoint", "s3://${aws_s3_bucket.files.bucket}/checkpoint",
    "--bad-events", "s3://${aws_s3_bucket.files.bucket}/bad-events",
    "--retention-days", tostring(var.event_days),
    "--trigger-seconds", tostring(var.trigger_seconds),
    "--max-mb-per-batch", tostring(local.mb_per_batch),
    "--stop-timeout", tostring(local.stop_timeout),
  ]

  # Each worker has 2 vCPUs and 8 GB. Python's share is outside of the JVM's heap.
  spark = {
    "spark.archives"                                       = "${local.code}/environment.tar.gz#environment"
    "spark.default.parallelism"                            = 2 * var.executors # before executors register
    "spark.driver.cores"                                   = 2
    "spark.driver.memory"                                  = "5g"
    "spark.driver.memoryOverhead"                          = "3g"
    "spark.dynamicAllocation.enabled"                      = false
    "spark.emr-serverless.driverEnv.PYSPARK_DRIVER_PYTHON" = local.python
    "spark.emr-serverless.driverEnv.PYSPARK_PYTHON"        = local.python
    "spark.executor.cores"                                 = 2
    "spark.executor.instances"                             = var.executors
    "spark.executor.memory"                                = "5g"
    "spark.executor.memoryOverhead"                        = "3g"
    "spark.executorEnv.PYSPARK_PYTHON"                     = local.python
    "spark.jars"                                           = "${local.code}/${local.jar}"
    "spark.submit.pyFiles"                                 = "${local.code}/log_processing.zip"
  }

  driver = {
    sparkSubmit = {
      entryPoint            = "${local.code}/job.py"
      entryPointArguments   = local.arguments
      sparkSubmitParameters = join(" ", [for name, value in local.spark : "--conf ${name}=${value}"])
    }
  }

  monitoring = {
    monitoringConfiguration = {
      s3MonitoringConfiguration                 = { logUri = "s3://${aws_s3_bucket.files.bucket}/logs/" }
      managedPersistenceMonitoringConfiguration = { enabled = false }
      cloudWatchLoggingConfiguration = {
        enabled      = true
        logGroupName = local.log_group
        logTypes     = { SPARK_DRIVER = ["STDOUT", "STDERR"] } # STDOUT has the metrics
      }
    }
  }

  emr  = "aws emr-serverless --region ${var.region}"
  app  = "--application-id ${aws_emrserverless_application.job.id}"
  runs = "${local.emr} list-job-runs ${local.app} --query 'jobRuns[].id' --output text --states SUBMITTED PENDING SCHEDULED QUEUED RUNNING"

  # Only an application at rest can be updated or deleted. A run starts it again.
  rest = <<-EOT
    while :; do
      state=$(${local.emr} get-application ${local.app} --query application.state --output text)
      case "$state" in
        CREATED | STOPPED) break ;;
        STARTED) ${local.emr} stop-application ${local.app} ;;
        TERMINATED) exit 1 ;;
      esac
      sleep 5
    done
  EOT
}

resource "aws_emrserverless_application" "job" {
  name          = var.name
  release_label = "emr-7.13.0" # Spark 3.5, Scala 2.12, Python 3.11
  type          = "spark"
  architecture  = "X86_64" # as in the README's command that packs Python

  # The driver and the executors: there is no room for a second run beside the first.
  maximum_capacity {
    cpu    = "${2 * (var.executors + 1)} vCPU"
    memory = "${8 * (var.executors + 1)} GB"
  }

  network_configuration {
    subnet_ids         = var.subnet_ids
    security_group_ids = [aws_security_group.job.id]
  }
}

resource "aws_cloudwatch_log_group" "job" {
  name              = local.log_group
  retention_in_days = local.job_log_days
}

output "upload_code" {
  description = "Commands that upload the job. Run them in the folder examples/log-processing after the build."
  value       = <<-EOT
    rm -f log_processing.zip
    zip -q -r log_processing.zip log_processing -x '*/__pycache__/*'
    aws s3 cp log_processing.zip ${local.code}/log_processing.zip
    aws s3 cp log_processing/job.py ${local.code}/job.py
    aws s3 cp environment.tar.gz ${local.code}/environment.tar.gz
    aws s3 cp ../../target/${local.jar} ${local.code}/${local.jar}
  EOT
}

output "start_job" {
  description = "Commands that start the job, unless a run of it has not ended."
  value       = <<-EOT
    set -e
    runs=$(${local.runs} CANCELLING)
    if [ -n "$runs" ] && [ "$runs" != None ]; then
      echo "The job runs already: $runs. Stop it first, because two runs must not share a checkpoint." >&2
      exit 1
    fi
    ${local.rest}
    ${local.emr} update-application ${local.app} --scheduler-configuration maxConcurrentRuns=1
    ${local.emr} start-job-run ${local.app} --name ${var.name} --mode STREAMING \
      --execution-role-arn ${aws_iam_role.job.arn} \
      --retry-policy maxFailedAttemptsPerHour=10 \
      --job-driver '${jsonencode(local.driver)}' \
      --configuration-overrides '${jsonencode(local.monitoring)}'
  EOT
}

output "stop_job" {
  description = "Commands that stop the job, and wait until its run and the application have ended."
  value       = <<-EOT
    set -e
    runs=$(${local.runs})
    for run in $runs; do
      [ "$run" = None ] || ${local.emr} cancel-job-run ${local.app} --job-run-id "$run" \
        --shutdown-grace-period-in-seconds ${local.grace_seconds}
    done
    while :; do
      runs=$(${local.runs} CANCELLING)
      [ -n "$runs" ] && [ "$runs" != None ] || break
      sleep 5
    done
    ${local.rest}
  EOT
}

output "names" {
  description = "Names of the stream, the table, the bucket, the alert queue's URL, and the ARN of the policy for readers."
  value = {
    stream        = aws_kinesis_stream.events.name
    table         = aws_dynamodb_table.events.name
    bucket        = aws_s3_bucket.files.bucket
    alert_queue   = aws_sqs_queue.alerts.url
    alarm_topic   = aws_sns_topic.alarms.arn
    reader_policy = aws_iam_policy.reader.arn
  }
}
