"""Kill trials: a real process is killed anywhere in a turn, another one goes on, and what is left is judged."""
