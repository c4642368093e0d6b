"""Events with the level ERROR, for EventBridge."""
