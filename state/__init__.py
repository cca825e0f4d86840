"""The nouns and their laws: frozen values and pure functions. Imports nothing else of ours."""
