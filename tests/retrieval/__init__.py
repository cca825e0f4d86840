"""Tests of retrieval, on real Chroma and real SQLite."""
