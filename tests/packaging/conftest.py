"""What is released: the contents of jars, wheel and source distribution, and the served Sparks.

This folder has no ``__init__.py``: as a package it would hide the library of the same name.
"""
