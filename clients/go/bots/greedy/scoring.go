package main

import (
	"slices"
	"strings"

	"github.com/pegboard/pegboard/clients/go/pegboard"
	pb "github.com/pegboard/pegboard/clients/go/pegboard/v1"
)

const noCard pb.Card = -1

const (
	longestRun = 8 // 0 A 2 3 4 5 6 7 make 28; no run of nine stays within 31
	leastFlush = 3 // smaller ones arise with zero jokers only, and do not count
)

// rules are what a variant of cribbage changes for a greedy bot.
type rules struct {
	threeRuns          bool
	jokers             string // none, wild or zero
	sign               int    // -1 if who reaches the target loses
	cribWithoutStarter bool
}

// rulesOf reads the options: those of the variant, then those that the match sets.
func rulesOf(variant string, changed map[string]string) rules {
	options := map[string]string{"jokers": "none"}
	switch variant {
	case "cribbage-three-runs":
		options["three_runs"] = "on"
	case "cribbage-jokers-wild":
		options["jokers"] = "wild"
	case "cribbage-jokers-zero":
		options["jokers"] = "zero"
	case "cribbage-lowball":
		options["lowball"] = "on"
	case "cribbage-5p-five-crib":
		options["form"] = "five-crib"
	}
	for key, text := range changed {
		options[key] = strings.ToLower(strings.TrimSpace(text))
	}
	found := rules{options["three_runs"] == "on", options["jokers"], 1, options["form"] == "five-crib"}
	if options["lowball"] == "on" {
		found.sign = -1
	}
	return found
}

// effective returns what a card counts as.
func effective(card pb.Card, declared *pb.Card) pb.Card {
	if declared != nil {
		return *declared
	}
	return card
}

// value returns what a card counts; 0 for a joker.
func value(card pb.Card) int { return min(pegboard.Rank(card), 10) }

func cardsOf(move *pb.GameMove) []pb.Card {
	switch kind := move.GetCribbage().GetKind().(type) {
	case *pb.CribbageMove_Discard:
		return kind.Discard.Cards
	case *pb.CribbageMove_Exchange:
		return kind.Exchange.Cards
	case *pb.CribbageMove_Split:
		return kind.Split.Cards
	case *pb.CribbageMove_Gift:
		return kind.Gift.Cards
	}
	return nil
}

// without returns the hand without these cards; both jokers of a pack are the same card.
func without(hand, cards []pb.Card) []pb.Card {
	rest := slices.Clone(hand)
	for _, card := range cards {
		if i := slices.Index(rest, card); i >= 0 {
			rest = slices.Delete(rest, i, i+1)
		}
	}
	return rest
}

// handValue returns the average of a hand over all starters, or its points alone with a wild joker.
func (r rules) handValue(kept, hand []pb.Card) float64 {
	if r.jokers == "wild" && slices.Contains(kept, pegboard.Joker) {
		return float64(r.showPoints(kept, noCard, false))
	}
	sum, starters := 0, 0
	counted := append(slices.Clone(kept), noCard)
	for rank := 1; rank <= 13; rank++ {
		counted[len(kept)] = pb.Card(10*rank + 1)
		points := r.rankPoints(counted)
		for suit := 1; suit <= 4; suit++ {
			if starter := pb.Card(10*rank + suit); !slices.Contains(hand, starter) {
				sum += points + suitPoints(kept, starter, false)
				starters++
			}
		}
	}
	return float64(sum) / float64(starters)
}

// showPoints returns the points of a hand or crib (R-C4); wild jokers stand for what is best (R-C9.3).
func (r rules) showPoints(cards []pb.Card, starter pb.Card, crib bool) int {
	if r.jokers != "wild" || starter != pegboard.Joker && !slices.Contains(cards, pegboard.Joker) {
		return r.rankPoints(withStarter(cards, starter)) + suitPoints(cards, starter, crib)
	}
	hand := slices.Clone(cards)
	var jokers []*pb.Card
	for i := range hand {
		if hand[i] == pegboard.Joker {
			jokers = append(jokers, &hand[i])
		}
	}
	if starter == pegboard.Joker {
		jokers = append(jokers, &starter)
	}
	most := 0
	r.tryRanks(jokers, func() {
		points := r.rankPoints(withStarter(hand, starter))
		if points+len(hand)+2 <= most { // a flush and the nob cannot make up for it
			return
		}
		trySuits(jokers, func() { most = max(most, points+suitPoints(hand, starter, crib)) })
	})
	return most
}

// tryRanks lets the jokers stand for a club of each rank.
func (r rules) tryRanks(jokers []*pb.Card, then func()) {
	if len(jokers) == 0 {
		then()
		return
	}
	for rank := pb.Card(1); rank <= 13; rank++ {
		*jokers[0] = 10*rank + 1
		r.tryRanks(jokers[1:], then)
	}
}

// trySuits lets the jokers stand for each suit of their ranks, and leaves them as they were.
func trySuits(jokers []*pb.Card, then func()) {
	if len(jokers) == 0 {
		then()
		return
	}
	club := *jokers[0]
	for suit := pb.Card(0); suit < 4; suit++ {
		*jokers[0] = club + suit
		trySuits(jokers[1:], then)
	}
	*jokers[0] = club
}

func withStarter(cards []pb.Card, starter pb.Card) []pb.Card {
	if starter == noCard {
		return cards
	}
	return append(slices.Clone(cards), starter)
}

// rankPoints returns fifteens, pairs and runs. A zero joker has rank 0, below the ace (R-C9.4).
func (r rules) rankPoints(cards []pb.Card) int {
	var sizes [15]int // the last one ends a run
	ways := [16]int{1}
	for _, card := range cards {
		sizes[pegboard.Rank(card)]++
		worth := value(card)
		for total := 15; total >= worth; total-- {
			ways[total] += ways[total-worth]
		}
	}
	points := 2 * ways[15]
	length, product := 0, 1
	for rank, size := range sizes {
		if rank > 0 { // jokers are no pair (R-C9.5)
			points += size * (size - 1)
		}
		if size > 0 {
			length, product = length+1, product*size
			if r.threeRuns && length >= 3 {
				points += 3 * size * sizes[rank-1] * sizes[rank-2]
			}
			continue
		}
		if length >= 3 && !r.threeRuns {
			points += length * product
		}
		length, product = 0, 1
	}
	return points
}

// suitPoints returns flush and nob (R-C4.4 to R-C4.6). Zero jokers have no suit and are left out.
func suitPoints(cards []pb.Card, starter pb.Card, crib bool) int {
	points := 0
	if starter > 0 && starter != pegboard.Joker && slices.Contains(cards, 110+pb.Card(pegboard.Suit(starter))) {
		points = 1
	}
	size, suit := 0, 0
	for _, card := range cards {
		if card == pegboard.Joker {
			continue
		}
		if size > 0 && pegboard.Suit(card) != suit {
			return points
		}
		size, suit = size+1, pegboard.Suit(card)
	}
	if starter != noCard && starter != pegboard.Joker {
		if pegboard.Suit(starter) == suit {
			size++
		} else if crib {
			return points
		}
	}
	if size < leastFlush {
		return points
	}
	return points + size
}

// pegPoints returns what the last of the cards scores at a count: fifteen, pairs, run, thirty-one (R-C3).
func (r rules) pegPoints(cards []pb.Card, count int) int {
	points := 0
	if count == 15 || count == 31 && r.jokers != "zero" {
		points = 2
	}
	last, equal := pegboard.Rank(cards[len(cards)-1]), 1
	for i := len(cards) - 2; i >= 0 && last > 0 && pegboard.Rank(cards[i]) == last; i-- {
		equal++
	}
	return points + equal*(equal-1) + r.runSize(cards)
}

// runSize returns the length of the longest run that ends the count, 0 for none (R-C3.10).
func (r rules) runSize(cards []pb.Card) int {
	longest, seen := 0, 0
	low, high := 14, -1
	for size := 1; size <= len(cards); size++ {
		rank := pegboard.Rank(cards[len(cards)-size])
		if seen&(1<<rank) != 0 {
			break
		}
		seen |= 1 << rank
		low, high = min(low, rank), max(high, rank)
		if high-low >= longestRun || r.threeRuns && size > 3 {
			break
		}
		if high-low == size-1 && size > 2 {
			longest = size
		}
	}
	return longest
}
