"""Payloads become columns: traps, documented messages, golden records, and properties."""
