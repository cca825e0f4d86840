"""The retail desk."""
