"""Proof and explanation of what was decided, from the record and the stores alone: replay, explain, diff, verify."""
