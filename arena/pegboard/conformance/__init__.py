"""Does a bot keep to the protocol? `pegboard bot check` plays the server's part and looks.

`server` is the scripted server, `bot` the program under test, `table` the matches that it is asked to
play, `cases` what is checked, `checker` runs them. docs/bots.md tells authors of bots about each case.
"""
