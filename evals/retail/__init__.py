"""A retail desk on the shared tables: policy, tools under contract, and 115 tasks whose expected actions are known."""
