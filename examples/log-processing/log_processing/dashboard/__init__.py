"""A web page that shows the job at work: ``python -m log_processing.dashboard --help``."""
