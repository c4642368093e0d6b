# Nothing here calls AWS: this module writes the commands for people, and the tests evaluate it.

locals {
  code   = "s3://${var.bucket}/code"
  python = "./environment/bin/python"

  checkpoint = "s3://${var.bucket}/checkpoint/${var.name}"
  bad_events = "s3://${var.bucket}/bad-events"

  # Options of log_processing.job.
  arguments = concat(
    [
      "--name", var.name,
      "--region", var.region,
      "--streams", var.stream,
      "--table", var.table,
      "--bus", var.bus,
      "--checkpoint", local.checkpoint,
      "--bad-events", local.bad_events,
      "--retention-days", tostring(var.event_days),
      "--trigger-seconds", tostring(var.trigger_seconds),
      "--starting-position", var.starting_position,
      "--write-timeout", tostring(var.write_timeout),
    ],
    var.fan_out_consumer == null ? [] : ["--consumer", var.fan_out_consumer],
  )

  # Each worker has 2 vCPUs and 8 GB. Python's share is outside of the JVM's heap.
  settings = {
    "spark.driver.cores"               = "2"
    "spark.driver.memory"              = "5g"
    "spark.driver.memoryOverhead"      = "3g"
    "spark.executor.cores"             = "2"
    "spark.executor.memory"            = "5g"
    "spark.executor.memoryOverhead"    = "3g"
    "spark.executor.instances"         = tostring(var.executors)
    "spark.dynamicAllocation.enabled"  = "false"
    "spark.default.parallelism"        = tostring(2 * var.executors) # before executors register
    "spark.executorEnv.PYSPARK_PYTHON" = local.python
  }

  serverless_settings = merge(local.settings, {
    "spark.archives"                                       = "${local.code}/environment.tar.gz#environment"
    "spark.emr-serverless.driverEnv.PYSPARK_DRIVER_PYTHON" = local.python
    "spark.emr-serverless.driverEnv.PYSPARK_PYTHON"        = local.python
  })

  cluster_settings = merge(local.settings, {
    "spark.yarn.dist.archives"                      = "${local.code}/environment.tar.gz#environment"
    "spark.yarn.appMasterEnv.PYSPARK_PYTHON"        = local.python
    "spark.yarn.maxAppAttempts"                     = tostring(var.attempts)
    "spark.yarn.am.attemptFailuresValidityInterval" = "1h"
  })

  files = [
    "--jars", "${local.code}/${var.connector_jar}",
    "--py-files", "${local.code}/log_processing.zip",
  ]

  run = {
    sparkSubmit = {
      entryPoint          = "${local.code}/job.py"
      entryPointArguments = local.arguments
      sparkSubmitParameters = join(" ", concat(
        local.files,
        [for name, value in local.serverless_settings : "--conf ${name}=${value}"],
      ))
    }
  }

  monitoring = {
    monitoringConfiguration = {
      s3MonitoringConfiguration                 = { logUri = "s3://${var.bucket}/logs/" }
      managedPersistenceMonitoringConfiguration = { enabled = false }
      cloudWatchLoggingConfiguration = {
        enabled      = true
        logGroupName = local.log_group
        logTypes     = { SPARK_DRIVER = ["STDOUT", "STDERR"] }
      }
    }
  }

  log_group = "/emr-serverless/${var.name}"

  step = [{
    Name            = var.name
    Type            = "CUSTOM_JAR"
    Jar             = "command-runner.jar"
    ActionOnFailure = "CONTINUE"
    Args = concat(
      ["spark-submit", "--deploy-mode", "cluster", "--name", var.name],
      local.files,
      flatten([for name, value in local.cluster_settings : ["--conf", "${name}=${value}"]]),
      ["${local.code}/job.py"],
      local.arguments,
    )
  }]

  # In cluster mode, the job is an application of YARN, which does not end with its step.
  list_applications = "yarn application -list -appTypes SPARK -appStates ACCEPTED,RUNNING"
  stop_step = [{
    Name            = "stop-${var.name}"
    Type            = "CUSTOM_JAR"
    Jar             = "command-runner.jar"
    ActionOnFailure = "CONTINUE"
    Args = ["bash", "-c", join(" | ", [
      local.list_applications,
      "grep \"[[:space:]]${var.name}[[:space:]]\"",
      "cut -f 1",
      "xargs -r -n 1 yarn application -kill",
    ])]
  }]
}
