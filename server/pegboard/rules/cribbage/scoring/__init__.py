"""What hands, cribs and the cards of a count are worth (R-C3, R-C4), in every variant."""
