"""Changing hosts' files: what it will be, the diff, the change itself and its record."""
