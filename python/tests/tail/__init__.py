"""Tests of the command tail."""
