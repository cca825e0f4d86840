"""Each port's contract, run against its fake, SQLite and PostgreSQL; and what only real stores can show."""
