"""The table, the bus and its rule, and what arrived there."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from log_processing.alerts.entries import DETAIL_TYPE, SOURCE
from log_processing.delivery.clients import client
from log_processing.table.keys import PROGRESS_PREFIX

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

TABLE, BUS, RULE, GROUP = "logs", "log-alerts", "errors", "/aws/events/log-errors"
REGION = "us-east-1"


def create_table(dynamodb: Any, name: str = TABLE) -> None:
    """Create the table, with its time to live.

    Args:
        dynamodb: boto3 client of DynamoDB.
        name: name of the table.
    """
    names = {"pk": "HASH", "sk": "RANGE"}
    dynamodb.create_table(
        TableName=name,
        BillingMode="PAY_PER_REQUEST",
        AttributeDefinitions=[{"AttributeName": it, "AttributeType": "S"} for it in names],
        KeySchema=[{"AttributeName": it, "KeyType": kind} for it, kind in names.items()],
    )
    dynamodb.update_time_to_live(
        TableName=name,
        TimeToLiveSpecification={"Enabled": True, "AttributeName": "expiresAt"},
    )


def create_bus(endpoint: str) -> None:
    """Create the bus, and a rule that sends the errors to a log group."""
    logs, events = client("logs", REGION, endpoint), client("events", REGION, endpoint)
    logs.create_log_group(logGroupName=GROUP)
    (group,) = logs.describe_log_groups(logGroupNamePrefix=GROUP)["logGroups"]
    events.create_event_bus(Name=BUS)
    pattern = json.dumps({"source": [SOURCE], "detail-type": [DETAIL_TYPE]})
    events.put_rule(Name=RULE, EventBusName=BUS, EventPattern=pattern)
    target = {"Id": "group", "Arn": group["arn"].removesuffix(":*")}
    events.put_targets(Rule=RULE, EventBusName=BUS, Targets=[target])


def stored_items(endpoint: str) -> Iterator[Mapping[str, Any]]:
    """The items of all events."""
    pages = client("dynamodb", REGION, endpoint).get_paginator("scan").paginate(TableName=TABLE)
    for page in pages:
        for item in page["Items"]:
            if not item["pk"]["S"].startswith(PROGRESS_PREFIX):
                yield item


def published_details(endpoint: str) -> Iterator[Mapping[str, Any]]:
    """The details of all alerts that the rule sent to the log group."""
    pages = client("logs", REGION, endpoint).get_paginator("filter_log_events")
    for page in pages.paginate(logGroupName=GROUP):
        for event in page["events"]:
            yield json.loads(event["message"])["detail"]
