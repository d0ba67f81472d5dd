// Package vectors reads the turns of tests/vectors/turns (docs/vectors.md), for tests of the kit and its bots.
package vectors

import (
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"github.com/pegboard/pegboard/clients/go/pegboard"
	pb "github.com/pegboard/pegboard/clients/go/pegboard/v1"
)

// Case is a turn, how it prints, and what the example bots answer.
type Case struct {
	ID, Hand       string
	Moves, Print   []string
	Ranges         [][]uint32
	Greedy, Random Answer
	Turn           *pegboard.Turn `json:"-"`
}

// Answer is what a bot answers.
type Answer struct {
	Seed   string
	Answer form
}

// form is a message in both of its forms.
type form struct {
	Bytes []byte
	JSON  json.RawMessage
}

// read reads the bytes, and fails if the JSON is of another message.
func read[M proto.Message](t *testing.T, f form, message, same M) M {
	t.Helper()
	if err := proto.Unmarshal(f.Bytes, message); err != nil {
		t.Fatal(err)
	}
	if err := protojson.Unmarshal(f.JSON, same); err != nil {
		t.Fatal(err)
	}
	if !proto.Equal(message, same) {
		t.Fatalf("bytes and JSON differ: %v, %v", message, same)
	}
	return message
}

// Each calls a test with every case, and fails if there are none.
func Each(t *testing.T, test func(t *testing.T, c Case)) {
	_, here, _, _ := runtime.Caller(0)
	paths, err := filepath.Glob(filepath.Join(filepath.Dir(here), "../../../../tests/vectors/turns/*.json"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no vectors of turns: %v", err)
	}
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var forms []struct {
			Case
			Started, Turn form
			Rejected      *form
		}
		if err := json.Unmarshal(data, &forms); err != nil {
			t.Fatal(err)
		}
		for _, f := range forms {
			t.Run(f.ID, func(t *testing.T) {
				f.Case.Turn = &pegboard.Turn{
					Turn: read(t, f.Turn, new(pb.Turn), new(pb.Turn)),
					Info: read(t, f.Started, new(pb.MatchStarted), new(pb.MatchStarted)),
				}
				if f.Rejected != nil {
					f.Case.Turn.Refused = read(t, *f.Rejected, new(pb.MoveRejected), new(pb.MoveRejected))
				}
				test(t, f.Case)
			})
		}
	}
}

// Check fails if a choice is another one than the answer of the vectors.
func (a Answer) Check(t *testing.T, turn *pegboard.Turn, choice pegboard.Choice) {
	t.Helper()
	expected := read(t, a.Answer, new(pb.Answer), new(pb.Answer))
	answer, err := choice.Answer(turn)
	if err != nil || !proto.Equal(answer, expected) {
		t.Errorf("%v\nanswered by %v, %v; expected %v", turn, answer, err, expected)
	}
}
