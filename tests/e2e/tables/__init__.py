"""Tables that a query writes, with the code of the page `docs/how-to/tables.md`."""
