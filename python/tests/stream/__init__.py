"""Tests of the facts about a stream."""
