"""The table in DynamoDB: its keys, its items, and how they are written."""
