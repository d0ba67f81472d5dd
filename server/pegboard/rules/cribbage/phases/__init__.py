"""The phases of a deal of cribbage, in the order of play: deal, bid, discard, exchange, play, show."""
