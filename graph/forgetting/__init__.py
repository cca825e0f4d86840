"""Forgetting (X7): what is kept of a subject, or past its time, is erased; the record chain stays."""
