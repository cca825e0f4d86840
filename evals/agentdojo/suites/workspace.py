"""Workspace: mail, calendar and cloud drive."""

from evals.agentdojo.suites import calendar, drive, mail

TERMS = {**mail.TERMS, **calendar.TERMS, **drive.TERMS}
