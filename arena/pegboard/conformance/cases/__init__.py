"""The cases: each is a function that talks to the bot and returns what it has seen in one sentence.

A case raises `Failed` for what the bot's author has to mend, and calls `Check.warn` for the rest.
"""
