"""A suite's results for people and for build servers: a table in the terminal, one HTML page, JUnit XML."""
