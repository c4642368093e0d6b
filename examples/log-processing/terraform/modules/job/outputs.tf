output "log_group" {
  description = "Name of the log group with the driver's log, on EMR Serverless."
  value       = local.log_group
}

output "upload_code" {
  description = "Commands that upload the job."
  value       = <<-EOT
    rm -f log_processing.zip
    zip -q -r log_processing.zip log_processing -x '*/__pycache__/*'
    aws s3 cp log_processing.zip ${local.code}/log_processing.zip
    aws s3 cp log_processing/job.py ${local.code}/job.py
    aws s3 cp environment.tar.gz ${local.code}/environment.tar.gz
    aws s3 cp ../../target/${var.connector_jar} ${local.code}/${var.connector_jar}
  EOT
}

output "start_job_run" {
  description = "Command that starts the job on EMR Serverless, with APPLICATION and JOB_ROLE to replace."
  value       = <<-EOT
    aws emr-serverless start-job-run --region ${var.region} --name ${var.name} \
      --application-id APPLICATION \
      --execution-role-arn JOB_ROLE \
      --mode STREAMING \
      --retry-policy maxFailedAttemptsPerHour=${var.attempts} \
      --job-driver '${jsonencode(local.run)}' \
      --configuration-overrides '${jsonencode(local.monitoring)}'
  EOT
}

output "add_steps" {
  description = "Command that starts the job on EMR on EC2, with CLUSTER to replace."
  value       = <<-EOT
    aws emr add-steps --region ${var.region} --cluster-id CLUSTER \
      --steps '${jsonencode(local.step)}'
  EOT
}

output "cancel_job_runs" {
  description = "Commands that stop the job on EMR Serverless, with APPLICATION to replace."
  value       = <<-EOT
    aws emr-serverless list-job-runs --region ${var.region} --application-id APPLICATION \
      --states SUBMITTED PENDING SCHEDULED QUEUED RUNNING --query 'jobRuns[].[id]' --output text |
    xargs -r -n 1 aws emr-serverless cancel-job-run --region ${var.region} \
      --application-id APPLICATION --shutdown-grace-period-in-seconds 120 --job-run-id
  EOT
}

output "add_stop_step" {
  description = "Command that stops the job on EMR on EC2, with CLUSTER to replace."
  value       = <<-EOT
    aws emr add-steps --region ${var.region} --cluster-id CLUSTER \
      --steps '${jsonencode(local.stop_step)}'
  EOT
}

output "checkpoint" {
  description = "Folder of the checkpoint."
  value       = local.checkpoint
}

output "bad_events" {
  description = "Folder of the bad events."
  value       = local.bad_events
}
