"""Wiring and the outside: the drawing, the composition root, settings, identity, models and stores."""
