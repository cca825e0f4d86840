"""The outside world, turned into scoped candidates."""
