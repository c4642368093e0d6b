"""A trial of the application on this machine: ``make demo-logs``. Start to read in ``__main__``.

``oracle`` says what the job should have done with the records of the stream. It shares no code with
the job: it follows the tables in the README.
"""
