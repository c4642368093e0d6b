"""Lease tables of the Kinesis Client Library (KCL): read once, or written back."""
