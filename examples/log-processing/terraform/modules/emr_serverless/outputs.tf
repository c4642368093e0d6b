output "application_id" {
  description = "ID of the application that runs the job."
  value       = aws_emrserverless_application.job.id
}
