"""Servers of the Model Context Protocol behind a gateway (S8): what of them may be called, and what comes back."""
