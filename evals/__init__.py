"""Fixed tasks, scorers and benchmarks over the running graph."""
