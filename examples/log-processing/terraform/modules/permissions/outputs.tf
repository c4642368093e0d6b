output "statements" {
  description = "Per service, the statements of the job's policy."
  value       = local.statements
}

output "job_policy" {
  description = "Policy of the job's role, as JSON."
  value = jsonencode({
    Version   = "2012-10-17"
    Statement = concat(flatten(values(local.statements)), local.job_key)
  })
}

output "reader_policy" {
  description = "Policy for people who query the events, as JSON."
  value = jsonencode({
    Version   = "2012-10-17"
    Statement = concat(local.query, local.reader_key)
  })
}
