"""Retrieval measured on labelled questions: quality per stage, speed and size beside plain peers."""
