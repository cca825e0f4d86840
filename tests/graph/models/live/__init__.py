"""Tests against a real model server process: `make live` sets it up and runs them."""
