"""The rules of cribbage, every variant: options, phases, play, show."""
