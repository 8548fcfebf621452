"""Checks of what a relay's port does with HTTP. http_checks.py says more."""
