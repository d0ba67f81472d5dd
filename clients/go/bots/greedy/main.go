// A greedy bot for every variant: the best it can see now, no plan. It chooses as examples/bots/greedy_bot.py.
//
// Cribbage: keeps the hand that is worth most on average over all starters it cannot see, and plays the card
// that scores most, of equal ones the highest; claims what is there and calls what is left out. Dominoes:
// places the heaviest tile that fits and draws only if none does.
package main

import (
	"slices"

	"github.com/pegboard/pegboard/clients/go/pegboard"
	pb "github.com/pegboard/pegboard/clients/go/pegboard/v1"
)

// bidMost is what a crib is worth to a bot that lays nothing good away.
const bidMost = 3

func main() { pegboard.Run(choose) }

func choose(turn *pegboard.Turn) pegboard.Choice {
	if turn.View.GetDominoes() != nil {
		return pegboard.Index(best(turn.LegalMoves, func(move *pb.GameMove) int { return pips(move.GetDominoes()) }))
	}
	if len(turn.LegalMoves) == 1 && turn.Number() == nil {
		return pegboard.Index(0)
	}
	return asked{turn, turn.View.GetCribbage(), rulesOf(turn.Variant(), turn.Info.Options)}.choose()
}

// pips weighs a move of dominoes: those of the tile, below them all to draw or pass.
func pips(move *pb.DominoesMove) int {
	if move.GetPlace() == nil {
		return -1
	}
	low, high := pegboard.Halves(move.GetPlace().Tile)
	return low + high
}

// best returns the index of the element of the greatest value, the first of equal ones.
func best[T any, V int | float64](elements []T, value func(T) V) int {
	index, most := 0, value(elements[0])
	for i, element := range elements[1:] {
		if found := value(element); found > most {
			index, most = i+1, found
		}
	}
	return index
}

// asked is a turn of cribbage.
type asked struct {
	turn  *pegboard.Turn
	view  *pb.CribbageView
	rules rules
}

// choose goes by the kind of the last listed move: a pass or plays are listed before a bid or a call.
func (a asked) choose() pegboard.Choice {
	switch last := a.turn.LegalMoves[len(a.turn.LegalMoves)-1].GetCribbage(); last.GetKind().(type) {
	case *pb.CribbageMove_Discard, *pb.CribbageMove_Exchange:
		return a.discard()
	case *pb.CribbageMove_Split, *pb.CribbageMove_Gift:
		return a.split()
	case *pb.CribbageMove_Play:
		return a.play()
	case *pb.CribbageMove_Claim:
		return a.within(0, a.truePoints())
	case *pb.CribbageMove_Call:
		return a.call()
	case *pb.CribbageMove_Bid:
		return a.bid()
	case *pb.CribbageMove_Place:
		return pegboard.Index(best(a.turn.LegalMoves, func(move *pb.GameMove) int {
			return a.rules.sign * a.gain(move.GetCribbage().GetPlace())
		}))
	}
	return pegboard.Index(0)
}

// discard keeps the best hand. Of more cards than a hand, it keeps those that combine most.
func (a asked) discard() pegboard.Choice {
	return pegboard.Index(best(a.turn.LegalMoves, func(move *pb.GameMove) float64 {
		kept := without(a.view.Hand, cardsOf(move))
		if len(kept) > 6 {
			return float64(a.rules.sign * a.rules.showPoints(kept, noCard, true))
		}
		return float64(a.rules.sign) * a.rules.handValue(kept, a.view.Hand)
	}))
}

// split makes the best two hands of eight cards: one's own two, or one's own and the partner's.
func (a asked) split() pegboard.Choice {
	return pegboard.Index(best(a.turn.LegalMoves, func(move *pb.GameMove) float64 {
		kept := cardsOf(move)
		rest := without(a.view.Hand, kept)
		return float64(a.rules.sign) * (a.rules.handValue(kept, a.view.Hand) + a.rules.handValue(rest, a.view.Hand))
	}))
}

// play plays the card that scores most, of equal ones the highest, and claims what it scores.
func (a asked) play() pegboard.Choice {
	var plays []*pb.CribbagePlay
	for _, move := range a.turn.LegalMoves {
		if play := move.GetCribbage().GetPlay(); play != nil {
			plays = append(plays, play)
		}
	}
	score := func(card pb.Card) int {
		return a.rules.pegPoints(append(a.countCards(), card), int(a.view.Count)+value(card))
	}
	index := best(plays, func(play *pb.CribbagePlay) int {
		card := effective(play.Card, play.Declared)
		return a.rules.sign * (100_000*score(card) + 1000*value(card) + int(card))
	})
	return a.within(index, score(effective(plays[index].Card, plays[index].Declared)))
}

// within chooses the move with the number nearest to the wanted one, if a number is asked for.
func (a asked) within(index, wanted int) pegboard.Choice {
	bounds := a.turn.Number()
	if bounds == nil {
		return pegboard.Index(index)
	}
	return pegboard.Number(index, max(bounds.Min, min(bounds.Max, uint32(wanted))))
}

// call calls what a claim left out; else it passes, or plays on if it is on turn.
func (a asked) call() pegboard.Choice {
	if counting := a.view.Counting; counting != nil && counting.Claim != nil {
		if missing := a.truePoints() - int(*counting.Claim); missing > 0 {
			return pegboard.Number(len(a.turn.LegalMoves)-1, uint32(missing))
		}
	}
	if a.turn.LegalMoves[0].GetCribbage().GetPlay() != nil {
		return a.play()
	}
	return pegboard.Index(0)
}

// truePoints returns what the hand, the crib or the card that is being counted is worth.
func (a asked) truePoints() int {
	counting := a.view.Counting
	switch counting.GetSubject() {
	case pb.CribbageReason_CRIBBAGE_REASON_HAND, pb.CribbageReason_CRIBBAGE_REASON_CRIB:
		crib, starter := counting.Subject == pb.CribbageReason_CRIBBAGE_REASON_CRIB, noCard
		if a.view.Starter != nil && !(crib && a.rules.cribWithoutStarter) {
			starter = *a.view.Starter
		}
		return a.rules.showPoints(counting.Cards, starter, crib)
	case pb.CribbageReason_CRIBBAGE_REASON_PLAY:
		if cards := a.countCards(); len(cards) > 0 {
			return a.rules.pegPoints(cards, int(a.view.Count))
		}
		return 0
	case pb.CribbageReason_CRIBBAGE_REASON_THIRTY_ONE:
		return 2
	}
	return 1
}

// countCards returns the cards of the running count as what they count.
func (a asked) countCards() []pb.Card {
	cards := make([]pb.Card, len(a.view.CountCards), len(a.view.CountCards)+1)
	for i, played := range a.view.CountCards {
		cards[i] = effective(played.Card, played.Declared)
	}
	return cards
}

// bid bids the least while it is little.
func (a asked) bid() pegboard.Choice {
	low := a.turn.Number().GetMin()
	cheap := a.rules.sign > 0 && low <= bidMost
	index := slices.IndexFunc(a.turn.LegalMoves, func(move *pb.GameMove) bool {
		return (move.GetCribbage().GetBid() != nil) == cheap
	})
	return pegboard.Number(max(index, 0), low)
}

// gain returns what the row and the column of a cell gain by the next card.
func (a asked) gain(place *pb.CribbagePlace) int {
	total := 0
	for line := range 2 {
		var cards []pb.Card
		for i := range 4 {
			cell := [2]int{4*int(place.Row) + i, 4*i + int(place.Column)}[line]
			if card := a.view.Grid[cell]; card != pb.Card_CARD_UNSPECIFIED {
				cards = append(cards, card)
			}
		}
		total -= a.linePoints(cards)
		total += a.linePoints(append(cards, a.view.GetNextCard()))
	}
	return total
}

// linePoints returns what the cards of a line make so far.
func (a asked) linePoints(cards []pb.Card) int {
	if len(cards) < 2 {
		return 0
	}
	return a.rules.showPoints(cards, noCard, true)
}
