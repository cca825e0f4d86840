"""Tests of the support agent: its data, its tools, its decision table, its texts."""
