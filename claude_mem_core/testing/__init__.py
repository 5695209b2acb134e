"""What a plugin author needs for tests."""
