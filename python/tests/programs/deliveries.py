"""Lines as a query delivers them."""

from __future__ import annotations

from spark_kinesis.demo.verdict import Arrival, LineKey


def deliver(clients: list[str], rows_per_batch: int = 7) -> list[Arrival]:
    """The lines of each client in order, in micro-batches."""
    numbers = dict.fromkeys(clients, 0)
    arrivals = []
    for at, client in enumerate(clients):
        numbers[client] += 1
        batch, row = divmod(at, rows_per_batch)
        arrivals.append(arrival(batch, row, client, numbers[client]))
    return arrivals


def arrival(batch: int, row: int, client: str, number: int) -> Arrival:
    """A line in a row of a micro-batch."""
    return Arrival(batch=batch, row=row, client=client, number=number, shard="shardId-000000000000")


def lines_of(arrivals: list[Arrival]) -> list[LineKey]:
    """The lines of some arrivals."""
    return [found.line for found in arrivals]
