"""Programs that tests run in a process of their own, with :mod:`tests.e2e.support.programs`.

Each takes its arguments from the command line and prints its result, most as JSON in the last line.
The docstring of a program says its arguments.
"""
