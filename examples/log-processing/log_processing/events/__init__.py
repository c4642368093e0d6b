"""From the bytes of a record to events. Nothing here has side effects."""
