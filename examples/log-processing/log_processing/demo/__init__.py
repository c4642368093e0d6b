"""A trial of the whole application on this machine: ``make demo-logs``.

Generators write log events to a local Kinesis. The job stores them in DynamoDB Local and publishes
the errors to EventBridge, which moto plays. Meanwhile the trial splits and merges shards, kills the
job and some of its Python workers, and starts the job again. At the end it compares the events of
the stream with the table, with the log group behind EventBridge, and with the bad events. Start to
read in ``story``.
"""
