"""The tools around a query, which the command ``spark-kinesis`` runs.

They need the packages of the extra ``[cli]``.

Each command is a function first, so that notebooks and platforms without a shell can use it. The
package ``cli`` has what their command lines share.
"""
