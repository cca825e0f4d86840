"""The SQL adapters of the ports: one schema, SQLite (WAL) by default, PostgreSQL by URL."""
