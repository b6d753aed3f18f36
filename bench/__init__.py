"""Measurements, runnable by anyone."""
