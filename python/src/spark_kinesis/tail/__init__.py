"""Shows the records of a stream as they arrive. Reads slowly, and changes nothing."""
