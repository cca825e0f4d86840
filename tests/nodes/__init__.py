"""Each node against a table of laps."""
