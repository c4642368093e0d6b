"""Writes to DynamoDB."""
