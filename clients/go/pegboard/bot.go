// Package pegboard is the Go kit: write a bot as a function from turn to choice.
//
//	func main() { pegboard.Run(choose) }
//
//	func choose(turn *pegboard.Turn) pegboard.Choice { return pegboard.Index(0) } // the first legal move
//
// Run finds the server in PEGBOARD_ADDRESS and the bot's token in PEGBOARD_TOKEN.
package pegboard

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"
	"time"

	"google.golang.org/grpc/codes"

	pb "github.com/pegboard/pegboard/clients/go/pegboard/v1"
)

const (
	patience     = time.Minute
	backoffFirst = 100 * time.Millisecond
	backoffMost  = 5 * time.Second
	remarkAfter  = 2 * time.Second // a bot that waits longer than this for a server prints a line
)

// Bot is what plays: Choose or ChooseBatch, and whatever else it needs. Each is called by one goroutine,
// Choose and ChooseBatch by another than the rest.
type Bot struct {
	// Choose answers a turn.
	Choose func(turn *Turn) Choice
	// ChooseBatch, if set, is called instead with all turns that are open: right for neural nets. It
	// returns a choice for each, in order.
	ChooseBatch func(turns []*Turn) []Choice
	// MaxOpenTurns is how many turns the bot takes at once; the others wait, clocks stopped. 0: any number.
	MaxOpenTurns uint32
	// Started is told of a match that runs: once when it starts and again after a reconnect.
	Started func(match *pb.MatchStarted)
	// Event is told what happens, as the seat may see it; kinds that the kit does not know are left out.
	Event func(match string, seat uint32, event *pb.MatchEvent)
	// Ended is told of a match that is over.
	Ended func(match *pb.MatchEnded)
}

// Run plays with a function: the main program of a bot.
func Run(choose func(turn *Turn) Choice) { (&Bot{Choose: choose}).Run() }

// Run plays until SIGTERM or SIGINT: it answers the turn under way and leaves in good order; a second
// signal ends the process at once. An error after which a new connection cannot help ends the process
// with status 1 and one line on standard error.
func (b *Bot) Run() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // the second signal meets its default action
	if err := b.Play(ctx, FromEnvironment()); err != nil {
		say(err.Error())
		os.Exit(1)
	}
}

// Play plays until the context is done, for programs with a main of their own. The error is an *Error if
// the server told it.
func (b *Bot) Play(ctx context.Context, options Options) error {
	if options.Token == "" {
		return errors.New("PEGBOARD_TOKEN is not set; give it the token of the bot")
	}
	if options.Patience == 0 {
		options.Patience = patience
	}
	connection, err := options.dial()
	if err != nil {
		return err
	}
	defer connection.Close()
	client, welcomed := pb.NewPlayServiceClient(connection), new(atomic.Bool)
	lost, pause := time.Now(), backoffFirst
	remark := time.AfterFunc(remarkAfter, func() {
		if !welcomed.Load() && ctx.Err() == nil {
			say(fmt.Sprintf("no server at %s yet; waiting %v for it", options.where(), options.Patience))
		}
	})
	defer remark.Stop()
	for {
		welcomed.Store(false)
		err := play(ctx, b, client, options.Token, welcomed)
		var told *Error
		if again := errors.As(err, &told) && told.comesBack(); !again || ctx.Err() != nil {
			if again {
				return nil
			}
			return err
		}
		if welcomed.Load() {
			lost, pause = time.Now(), backoffFirst
			remark.Reset(remarkAfter)
		}
		if time.Since(lost) > options.Patience {
			return &Error{Code: codes.Unavailable, Reason: told.Reason, Detail: fmt.Sprintf(
				"no server at %s for %v (%s); is `pegboard serve` running there?", options.where(), options.Patience, told)}
		}
		select { // jitter spreads the reconnections of all bots of a server that restarts
		case <-time.After(time.Duration(float64(pause) * (0.5 + rand.Float64()))):
		case <-ctx.Done():
			return nil
		}
		pause = min(2*pause, backoffMost)
	}
}

// say prints a line on standard error.
func say(sentence string) { fmt.Fprintln(os.Stderr, "pegboard bot: "+line(sentence)) }
