terraform {
  required_version = ">= 1.9.0, < 2.0.0"

  required_providers {
    aws = {
      source  = "hashicorp/aws"
      version = ">= 5.100, < 7"
    }
  }
}

provider "aws" {
  region = var.region

  default_tags {
    tags = { application = var.name }
  }
}

data "aws_caller_identity" "here" {}
