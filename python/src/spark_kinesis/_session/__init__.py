"""How the connector's jar gets into a Spark session."""
