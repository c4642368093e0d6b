"""The move of a query to another position."""
