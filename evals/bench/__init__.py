"""What the loop itself costs: a decision without model and embedder against eight empty nodes, in the same run."""
