package pegboard

import (
	"fmt"
	"strings"

	pb "github.com/pegboard/pegboard/clients/go/pegboard/v1"
)

// Turn is a question to one seat. Self-contained: a bot need remember nothing.
//
// Match, Seat, TurnId, Clock, LegalMoves and View are those of the message; View.GetCribbage() or
// View.GetDominoes() has all that the seat sees.
type Turn struct {
	*pb.Turn
	// Info is what stays the same throughout the match: variant, options, seats, times.
	Info *pb.MatchStarted
	// Refused is the last answer to this same turn that did not count, or nil.
	Refused *pb.MoveRejected
}

// Variant returns the id of the variant, such as "draw".
func (t *Turn) Variant() string { return strings.TrimPrefix(t.Info.Variant, "variants/") }

// Range returns the bounds, both allowed, of the number that a listed move needs; nil if it needs none.
func (t *Turn) Range(index int) *pb.NumberRange { return t.LegalMoves[index].NumberRange }

// Number returns the bounds of the first move that needs a number, nil if none does. If a call of
// muggins is listed beside plays, they are those of the plays.
func (t *Turn) Number() *pb.NumberRange {
	for _, move := range t.LegalMoves {
		if move.NumberRange != nil {
			return move.NumberRange
		}
	}
	return nil
}

// String returns the turn as people write it: its title, the view, the legal moves with their ranges.
func (t *Turn) String() string {
	lines := []string{fmt.Sprintf("turn %d of seat %d in %s", t.TurnId, t.Seat, t.Match)}
	lines = append(lines, viewLines(t.View)...)
	moves := make([]string, len(t.LegalMoves))
	for i, move := range t.LegalMoves {
		moves[i] = fmt.Sprintf("%d %s", i, MoveText(move))
		if bounds := move.NumberRange; bounds != nil {
			moves[i] += fmt.Sprintf(" (%d to %d)", bounds.Min, bounds.Max)
		}
	}
	return strings.Join(append(lines, "legal moves: "+strings.Join(moves, ", ")), "\n")
}

// Choice is the answer to a turn. Index, Number, Move and Resign make one.
type Choice struct {
	index  int
	number *uint32
	move   *pb.GameMove
	resign bool
}

// Index chooses a listed move; if it needs a number, the least one.
func Index(index int) Choice { return Choice{index: index} }

// Number chooses a listed move that needs a number, and gives it.
func Number(index int, number uint32) Choice { return Choice{index: index, number: &number} }

// Move chooses a move by what it is, its number included.
func Move(move *pb.GameMove) Choice { return Choice{move: move} }

// Resign gives the match up.
var Resign = Choice{resign: true}

// Answer returns the choice as the message that answers the turn, for tests of a bot; nil for Resign.
func (c Choice) Answer(turn *Turn) (*pb.Answer, error) {
	if c.resign {
		return nil, nil
	}
	answer := &pb.Answer{Match: turn.Match, Seat: turn.Seat, TurnId: turn.TurnId, Number: c.number}
	if c.move != nil {
		answer.Choice = &pb.Answer_Move{Move: c.move}
		return answer, nil
	}
	if c.index < 0 || c.index >= len(turn.LegalMoves) {
		return nil, fmt.Errorf("the bot chose index %d for turn %d of seat %d in %s; choose one below %d",
			c.index, turn.TurnId, turn.Seat, turn.Match, len(turn.LegalMoves))
	}
	answer.Choice = &pb.Answer_Index{Index: uint32(c.index)}
	return answer, nil
}

// addTo puts the choice into a message.
func (c Choice) addTo(request *pb.PlayRequest, turn *Turn) error {
	answer, err := c.Answer(turn)
	if answer != nil {
		request.Answers = append(request.Answers, answer)
	} else if err == nil {
		request.Resignations = append(request.Resignations, &pb.Resignation{Match: turn.Match, Seat: turn.Seat})
	}
	return err
}
