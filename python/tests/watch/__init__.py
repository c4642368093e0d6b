"""Live views."""
