"""Positions of other consumers."""
