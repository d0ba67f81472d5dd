// A bot that plays at random, in every variant: clients/README.md, "A random bot, exactly".
package main

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"os"

	"github.com/pegboard/pegboard/clients/go/pegboard"
)

var seed = cmp.Or(os.Getenv("PEGBOARD_BOT_SEED"), "1")

func main() { pegboard.Run(choose) }

func choose(turn *pegboard.Turn) pegboard.Choice {
	first := turn.Number()
	key := fmt.Sprintf("%s/%s/%d/%d/%d/%d", seed, turn.Match, turn.Seat, turn.TurnId, first.GetMin(), first.GetMax())
	digest := sha256.Sum256([]byte(key))
	index := int(binary.BigEndian.Uint64(digest[:8]) >> 16 % uint64(len(turn.LegalMoves)))
	if bounds := turn.Range(index); bounds != nil {
		return pegboard.Number(index, min(bounds.Max, bounds.Min+uint32(digest[6])*uint32(digest[7])/4096))
	}
	return pegboard.Index(index)
}
