"""AgentDojo's four suites as domains behind our gate, with a model that belongs to the attacker (X10)."""
