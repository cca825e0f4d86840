"""Models behind the Model port: the adapter for any LangChain chat model, and the models that need no key."""
