output "cluster_id" {
  description = "ID of the cluster that runs the job."
  value       = aws_emr_cluster.job.id
}
