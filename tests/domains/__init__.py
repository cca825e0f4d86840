"""Domains for tests, beside the one that ships."""
