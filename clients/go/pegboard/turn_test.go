package pegboard_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/pegboard/pegboard/clients/go/internal/vectors"
	"github.com/pegboard/pegboard/clients/go/pegboard"
	pb "github.com/pegboard/pegboard/clients/go/pegboard/v1"
)

func TestTurnsPrintAsThoseOfThePythonKit(t *testing.T) {
	vectors.Each(t, func(t *testing.T, c vectors.Case) {
		if lines := strings.Split(c.Turn.String(), "\n"); !slices.Equal(lines, c.Print) {
			t.Errorf("printed %q, expected %q", lines, c.Print)
		}
		hand := pegboard.CardsText(c.Turn.View.GetCribbage().GetHand())
		if dominoes := c.Turn.View.GetDominoes(); dominoes != nil {
			hand = pegboard.TilesText(dominoes.Hand)
		}
		if hand != c.Hand {
			t.Errorf("the hand is %q, expected %q", hand, c.Hand)
		}
		for i, move := range c.Turn.LegalMoves {
			if text := pegboard.MoveText(move); text != c.Moves[i] {
				t.Errorf("move %d is %q, expected %q", i, text, c.Moves[i])
			}
			var bounds []uint32
			if found := c.Turn.Range(i); found != nil {
				bounds = []uint32{found.Min, found.Max}
			}
			if !slices.Equal(bounds, c.Ranges[i]) {
				t.Errorf("the range of move %d is %v, expected %v", i, bounds, c.Ranges[i])
			}
		}
	})
}

func TestCardsAndTilesPrintAsPeopleWriteThem(t *testing.T) {
	cards := map[pb.Card]string{11: "AC", 51: "5C", 102: "TD", 134: "KS", 141: "JK", 0: "??", 999: "??", -1: "??"}
	for card, text := range cards {
		if found := pegboard.CardText(card); found != text {
			t.Errorf("card %d prints as %q, expected %q", card, found, text)
		}
	}
	tiles := map[pb.Tile]string{100: "[0|0]", 114: "[1|4]", 166: "[6|6]", 0: "[?|?]"}
	for tile, text := range tiles {
		if found := pegboard.TileText(tile); found != text {
			t.Errorf("tile %d prints as %q, expected %q", tile, found, text)
		}
	}
}

func TestAnUnknownMoveOrViewPrints(t *testing.T) {
	turn := pegboard.Turn{Turn: &pb.Turn{Match: "matches/x", TurnId: 3, LegalMoves: []*pb.GameMove{{}, {
		Kind: &pb.GameMove_Cribbage{Cribbage: &pb.CribbageMove{}}, NumberRange: &pb.NumberRange{Max: 2},
	}}}}
	expected := "turn 3 of seat 0 in matches/x\nlegal moves: 0 ?, 1 ? ? (0 to 2)"
	if text := turn.String(); text != expected {
		t.Errorf("printed %q", text)
	}
}

func TestAChoiceOutsideTheListIsTold(t *testing.T) {
	turn := &pegboard.Turn{Turn: &pb.Turn{LegalMoves: []*pb.GameMove{{}}}}
	for _, index := range []int{-1, 1} {
		if answer, err := pegboard.Index(index).Answer(turn); err == nil {
			t.Errorf("index %d is answered by %v", index, answer)
		}
	}
}
