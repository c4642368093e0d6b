"""The installed package as a user meets it: jars, sessions, READMEs, examples, the demo.

Most tests run a program in a process of its own, because a JVM serves one kind of session: classic,
Spark Connect, or spark-submit. They check that no jar of the user is lost, that no secret is
printed, and that the code in the READMEs works.
"""
