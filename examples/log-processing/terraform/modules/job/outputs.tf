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
      --retry-policy maxFailedAttemptsPerHour=5 \
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
