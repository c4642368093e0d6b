"""The values of a source and a sink, and the Spark options made of them."""
