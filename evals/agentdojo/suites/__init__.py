"""The contracts of the four suites, written from the docstrings of their tools alone."""
