"""Payloads: what needs no Spark."""
