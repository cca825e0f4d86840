"""Isolation of retrieval as a property: random worlds, and what every store was asked and gave."""
