output "upload_code" {
  description = "Commands that upload the job. Run them in the folder examples/log-processing after the build."
  value       = module.job.upload_code
}

output "start_job" {
  description = "Command that starts the job."
  value       = local.ec2 ? local.add_steps : local.start_job_run
}

output "stop_job" {
  description = "Command that stops the job."
  value       = local.ec2 ? local.add_stop_step : local.cancel_job_runs
}

output "stream_name" {
  description = "Name of the stream that services send their log events to."
  value       = module.stream.name
}

output "table_name" {
  description = "Name of the table with the events."
  value       = module.table.name
}

output "alert_queue_url" {
  description = "URL of the queue that receives one message per alert."
  value       = module.events.queue_url
}

output "checkpoint_folder" {
  description = "Folder of the job's checkpoint."
  value       = module.job.checkpoint
}

output "bad_events_folder" {
  description = "Folder of the events that could not be stored."
  value       = module.job.bad_events
}

output "reader_policy_arn" {
  description = "ARN of the policy for people who query the events. Attach it to their role."
  value       = module.job_role.reader_policy_arn
}

output "alarm_topic_arn" {
  description = "ARN of the SNS topic that receives the alarms."
  value       = module.alarms.topic_arn
}

output "dashboard_url" {
  description = "Address of the CloudWatch dashboard."
  value       = module.alarms.dashboard_url
}

locals {
  application_id = join("", module.emr_serverless[*].application_id)
  cluster_id     = join("", module.emr_ec2[*].cluster_id)
  with_role      = replace(module.job.start_job_run, "JOB_ROLE", module.job_role.arn)

  start_job_run   = replace(local.with_role, "APPLICATION", local.application_id)
  cancel_job_runs = replace(module.job.cancel_job_runs, "APPLICATION", local.application_id)
  add_steps       = replace(module.job.add_steps, "CLUSTER", local.cluster_id)
  add_stop_step   = replace(module.job.add_stop_step, "CLUSTER", local.cluster_id)
}
