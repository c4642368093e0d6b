"""What the end-to-end tests share: streams, collectors, clusters and verdicts.

``streams`` writes numbered records with boto3, ``harness`` runs queries and collects their rows,
``verdict`` compares the two. ``cluster`` and ``standalone`` start clusters, ``programs`` runs
programs, ``stub_server`` is a service that answers as told.
"""
