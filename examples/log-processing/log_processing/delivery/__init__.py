"""Requests to AWS: clients, requests in flight, and repeats until a service accepts everything."""
