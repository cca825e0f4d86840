"""AgentDojo through the gate."""
