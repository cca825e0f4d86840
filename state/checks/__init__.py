"""Guards and the tracing of argument origins: pure functions that several nodes use."""
