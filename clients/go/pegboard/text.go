package pegboard

import (
	"fmt"
	"strings"

	pb "github.com/pegboard/pegboard/clients/go/pegboard/v1"
)

// Joker is the number of a joker.
const Joker = pb.Card_CARD_JOKER

// Rank returns 1 for an ace to 13 for a king, 0 for a joker.
func Rank(card pb.Card) int {
	if card == Joker {
		return 0
	}
	return int(card) / 10
}

// Suit returns 1 to 4 for clubs, diamonds, hearts and spades, 0 for a joker.
func Suit(card pb.Card) int {
	if card == Joker {
		return 0
	}
	return int(card) % 10
}

// CardText returns 5C, JK for a joker, ?? for a hidden card or one that the kit does not know.
func CardText(card pb.Card) string {
	rank, suit := Rank(card), Suit(card)
	switch {
	case card == Joker:
		return "JK"
	case rank < 1 || rank > 13 || suit < 1 || suit > 4:
		return "??"
	}
	return "A23456789TJQK"[rank-1:rank] + "CDHS"[suit-1:suit]
}

// CardsText returns the cards separated by blanks.
func CardsText(cards []pb.Card) string { return joined(cards, " ", CardText) }

// Halves returns the lower and the higher half of a tile.
func Halves(tile pb.Tile) (low, high int) { return int(tile) / 10 % 10, int(tile) % 10 }

// TileText returns [1|4], or [?|?] for a hidden tile.
func TileText(tile pb.Tile) string { return "[" + bareTile(tile) + "]" }

// TilesText returns the tiles as they stand in moves and records, 0|2 1|4, separated by blanks.
func TilesText(tiles []pb.Tile) string { return joined(tiles, " ", bareTile) }

func bareTile(tile pb.Tile) string {
	if tile == pb.Tile_TILE_UNSPECIFIED {
		return "?|?"
	}
	low, high := Halves(tile)
	return fmt.Sprintf("%d|%d", low, high)
}

// MoveText returns the canonical notation, such as PLAY 5C CLAIM 2 or PLACE 3|5@L; a number that is
// still to be given is ?, and so is a move that the kit does not know.
func MoveText(move *pb.GameMove) string {
	text := "?"
	switch kind := move.GetKind().(type) {
	case *pb.GameMove_Cribbage:
		text = cribbageText(kind.Cribbage)
	case *pb.GameMove_Dominoes:
		text = dominoesText(kind.Dominoes)
	}
	if move.GetNumberRange() != nil {
		text += " ?"
	}
	return text
}

func cribbageText(move *pb.CribbageMove) string {
	switch kind := move.GetKind().(type) {
	case *pb.CribbageMove_Discard:
		return "DISCARD " + CardsText(kind.Discard.Cards)
	case *pb.CribbageMove_Split:
		return "SPLIT " + CardsText(kind.Split.Cards)
	case *pb.CribbageMove_Gift:
		return "GIFT " + CardsText(kind.Gift.Cards)
	case *pb.CribbageMove_Exchange:
		return "EXCHANGE " + CardsText(kind.Exchange.Cards)
	case *pb.CribbageMove_Play:
		return "PLAY " + declaredText(kind.Play.Card, kind.Play.Declared) + numbered(" CLAIM", kind.Play.Claim, "")
	case *pb.CribbageMove_Go:
		return "GO"
	case *pb.CribbageMove_PassTurn:
		return "PASS"
	case *pb.CribbageMove_Bid:
		return numbered("BID", kind.Bid.Points, "BID")
	case *pb.CribbageMove_Claim:
		return numbered("CLAIM", kind.Claim.Points, "CLAIM")
	case *pb.CribbageMove_Call:
		return numbered("CALL", kind.Call.Points, "CALL")
	case *pb.CribbageMove_Place:
		return fmt.Sprintf("PLACE %d %d", kind.Place.Row, kind.Place.Column)
	}
	return "?"
}

func dominoesText(move *pb.DominoesMove) string {
	switch kind := move.GetKind().(type) {
	case *pb.DominoesMove_Place:
		ends := map[pb.DominoesEnd]string{pb.DominoesEnd_DOMINOES_END_LEFT: "@L", pb.DominoesEnd_DOMINOES_END_RIGHT: "@R"}
		return "PLACE " + bareTile(kind.Place.Tile) + ends[kind.Place.GetEnd()]
	case *pb.DominoesMove_Draw:
		return "DRAW"
	case *pb.DominoesMove_PassTurn:
		return "PASS"
	}
	return "?"
}

func declaredText(card pb.Card, declared *pb.Card) string {
	if declared == nil {
		return CardText(card)
	}
	return CardText(card) + "=" + CardText(*declared)
}

// numbered returns the word with its number, or what stands for it without one.
func numbered(word string, number *uint32, without string) string {
	if number == nil {
		return without
	}
	return fmt.Sprintf("%s %d", word, *number)
}

// viewLines returns what people want to see of a view, a line a subject; what is empty is left out.
func viewLines(view *pb.GameView) []string {
	switch kind := view.GetKind().(type) {
	case *pb.GameView_Cribbage:
		return cribbageLines(kind.Cribbage)
	case *pb.GameView_Dominoes:
		return dominoesLines(kind.Dominoes)
	}
	return nil
}

func cribbageLines(view *pb.CribbageView) []string {
	phase := strings.TrimPrefix(view.Phase.String(), "CRIBBAGE_PHASE_")
	lines := []string{fmt.Sprintf("%s in deal %d of game %d, dealer %d, scores %s",
		phase, view.Deal, view.Game, view.Dealer, joined(view.Scores, " ", number))}
	add := func(name, text string) {
		if text != "" {
			lines = append(lines, name+": "+text)
		}
	}
	add("hand", CardsText(view.Hand))
	add("discards", CardsText(view.Discards))
	add("second hand", CardsText(view.SecondHand))
	if view.Starter != nil {
		add("starter", CardText(*view.Starter))
	}
	add("played", joined(view.Played, ", ", playedText))
	add(fmt.Sprintf("count %d", view.Count), joined(view.CountCards, ", ", playedText))
	for row := 0; row+4 <= len(view.Grid); row += 4 {
		lines = append(lines, strings.ReplaceAll(CardsText(view.Grid[row:row+4]), "??", "--"))
	}
	if view.NextCard != nil {
		add("next card", CardText(*view.NextCard))
	}
	return lines
}

func dominoesLines(view *pb.DominoesView) []string {
	lines := []string{fmt.Sprintf("seat %d to act in round %d of game %d, scores %s",
		view.SeatToAct, view.Round, view.Game, joined(view.Scores, " ", number))}
	if len(view.Hand) > 0 {
		lines = append(lines, "hand: "+TilesText(view.Hand))
	}
	lines = append(lines, fmt.Sprintf("hands of %s, stock of %d", joined(view.HandSizes, " ", number), view.Stock))
	if ends := view.Continuations; len(view.Line) > 0 && len(ends) == 2 {
		lines = append(lines, fmt.Sprintf("line: %s, open for %d and %d", TilesText(view.Line), ends[0].Pips, ends[1].Pips))
	}
	return lines
}

func playedText(played *pb.CribbagePlayed) string {
	return fmt.Sprintf("%d %s", played.Seat, declaredText(played.Card, played.Declared))
}

func number[T int32 | uint32](value T) string { return fmt.Sprint(value) }

// joined returns the texts of values with a separator between them.
func joined[T any](values []T, separator string, text func(T) string) string {
	texts := make([]string, len(values))
	for i, value := range values {
		texts[i] = text(value)
	}
	return strings.Join(texts, separator)
}
