"""Calls that work on a table for long: beside writers, in several versions."""
