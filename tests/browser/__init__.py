"""Tests of the built web book in a browser."""
