package pegboard

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"google.golang.org/grpc/codes"

	pb "github.com/pegboard/pegboard/clients/go/pegboard/v1"
)

const (
	protocolVersion = 1
	silenceBeats    = 3
	welcomeWithin   = 30 * time.Second
	stopWithin      = 2 * time.Second      // a bot that leaves waits so long for the end of the stream
	flushAfter      = 5 * time.Millisecond // a slower batch is answered in parts: opponents get their turns meanwhile
	answersAtOnce   = 256                  // a message may have 256 KiB; the first are taken while the rest comes
)

// A turn comes again after these rejections.
var stillOpen = map[pb.RejectionReason]bool{
	pb.RejectionReason_REJECTION_REASON_ILLEGAL_MOVE:   true,
	pb.RejectionReason_REJECTION_REASON_CLAIM_TOO_HIGH: true,
	pb.RejectionReason_REJECTION_REASON_MUST_GO_OUT:    true,
}

type question struct {
	match string
	seat  uint32
	id    uint64
}

// session is one connection, from Hello to its end. One goroutine reads; another one chooses and
// writes all that has come meanwhile: while a message is being written, turns gather for the next.
type session struct {
	bot      *Bot
	stream   pb.PlayService_PlayClient
	cancel   context.CancelCauseFunc
	welcomed *atomic.Bool
	leaving  context.Context
	silence  *time.Timer
	within   time.Duration
	infos    map[string]*pb.MatchStarted
	refused  map[question]*pb.MoveRejected // turns that come again

	mutex     sync.Mutex
	changed   *sync.Cond
	turns     []*Turn // read, not yet answered
	heartbeat uint64  // read, not yet answered
	over      bool    // nothing more is to be answered
}

// play plays one stream to its end. leaving: half-close after the turn under way.
func play(leaving context.Context, bot *Bot, client pb.PlayServiceClient, token string, welcomed *atomic.Bool) error {
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	s := &session{
		bot: bot, cancel: cancel, welcomed: welcomed, leaving: leaving, within: welcomeWithin,
		infos: map[string]*pb.MatchStarted{}, refused: map[question]*pb.MoveRejected{},
	}
	s.changed = sync.NewCond(&s.mutex)
	defer context.AfterFunc(leaving, s.leave)()
	silent := &Error{Code: codes.DeadlineExceeded, Reason: "SILENT", Detail: "nothing from the server for three heartbeats"}
	s.silence = time.AfterFunc(s.within, func() { cancel(silent) })
	defer s.silence.Stop()
	stream, err := client.Play(ctx)
	if err == nil {
		s.stream = stream
		err = s.converse(token)
	}
	if cause := context.Cause(ctx); cause != nil && cause != context.Canceled {
		return cause
	}
	return decode(err)
}

func (s *session) leave() {
	if !s.welcomed.Load() {
		s.cancel(errLeft)
	}
	time.AfterFunc(stopWithin, func() { s.cancel(errLeft) })
	s.end()
}

var errLeft = &Error{Code: codes.Unavailable, Detail: "the bot was told to stop"}

func (s *session) end() {
	s.mutex.Lock()
	s.over = true
	s.mutex.Unlock()
	s.changed.Broadcast()
}

// converse says Hello, and reads to the end of the stream.
func (s *session) converse(token string) error {
	hello := &pb.Hello{
		Token: token, Kit: "pegboard-go", KitVersion: Version, ProtocolVersion: protocolVersion,
		MaxOpenTurns: s.bot.MaxOpenTurns, Events: s.bot.Event != nil,
	}
	_ = s.stream.Send(&pb.PlayRequest{Hello: hello}) // Recv tells why it failed, here and below
	var answering sync.WaitGroup
	answering.Add(1)
	go func() {
		defer answering.Done()
		s.answerOn()
	}()
	defer answering.Wait()
	defer s.end()
	for {
		response, err := s.stream.Recv()
		if err != nil {
			return err
		}
		s.silence.Reset(s.within)
		s.take(response)
	}
}

// take reads one response, its fields in the order of their numbers.
func (s *session) take(response *pb.PlayResponse) {
	if response.Welcome != nil {
		s.welcome(response.Welcome)
	}
	s.news(response)
	turns := make([]*Turn, len(response.Turns))
	for i, message := range response.Turns {
		key := question{message.Match, message.Seat, message.TurnId}
		turns[i] = &Turn{Turn: message, Info: s.infos[message.Match], Refused: s.refused[key]}
		delete(s.refused, key)
		if turns[i].Info == nil {
			turns[i].Info = &pb.MatchStarted{}
		}
	}
	if len(turns) == 0 && response.Heartbeat == 0 {
		return
	}
	s.mutex.Lock()
	s.turns = append(s.turns, turns...)
	s.heartbeat = max(s.heartbeat, response.Heartbeat)
	s.mutex.Unlock()
	s.changed.Signal()
}

func (s *session) welcome(welcome *pb.Welcome) {
	if welcome.ProtocolVersion != protocolVersion {
		s.cancel(fmt.Errorf("the server speaks version %d of the protocol, this kit version %d; take a kit that fits",
			welcome.ProtocolVersion, protocolVersion))
	}
	if welcome.HeartbeatIntervalMs > 0 {
		s.within = silenceBeats * time.Duration(welcome.HeartbeatIntervalMs) * time.Millisecond
		s.silence.Reset(s.within)
	}
	s.welcomed.Store(true)
}

func (s *session) news(response *pb.PlayResponse) {
	for _, started := range response.Started {
		s.infos[started.Match] = started
		if s.bot.Started != nil {
			s.bot.Started(started)
		}
	}
	for _, events := range response.Events {
		for _, event := range events.Events {
			if event.Kind != nil && s.bot.Event != nil {
				s.bot.Event(events.Match, events.Seat, event)
			}
		}
	}
	for _, rejected := range response.Rejected {
		if stillOpen[rejected.Reason] && rejected.AttemptsLeft > 0 {
			s.refused[question{rejected.Match, rejected.Seat, rejected.TurnId}] = rejected
		}
	}
	for _, ended := range response.Ended {
		delete(s.infos, ended.Match)
		if s.bot.Ended != nil {
			s.bot.Ended(ended)
		}
	}
}

// answerOn answers what has come until there is nothing more to answer, then half-closes.
func (s *session) answerOn() {
	for {
		s.mutex.Lock()
		for len(s.turns) == 0 && s.heartbeat == 0 && !s.over {
			s.changed.Wait()
		}
		turns, heartbeat, over := s.turns, s.heartbeat, s.over
		s.turns, s.heartbeat = nil, 0
		s.mutex.Unlock()
		if over {
			_ = s.stream.CloseSend()
			return
		}
		if err := s.answer(turns, &pb.PlayRequest{Heartbeat: heartbeat}); err != nil {
			s.cancel(err)
			return
		}
	}
}

// answer chooses for the turns and writes the answers in one message, or in parts if that takes long.
func (s *session) answer(turns []*Turn, request *pb.PlayRequest) error {
	var choices []Choice
	if s.bot.ChooseBatch != nil && len(turns) > 0 {
		if choices = s.bot.ChooseBatch(turns); len(choices) != len(turns) {
			return fmt.Errorf("ChooseBatch returned %d choices for %d turns; return one for each, in order",
				len(choices), len(turns))
		}
	}
	flushAt := time.Now().Add(flushAfter)
	for i, turn := range turns {
		var choice Choice
		if choices != nil {
			choice = choices[i]
		} else if s.leaving.Err() == nil {
			choice = s.bot.Choose(turn)
		} else {
			break
		}
		if err := choice.addTo(request, turn); err != nil {
			return err
		}
		if len(request.Answers) >= answersAtOnce || time.Now().After(flushAt) {
			_ = s.stream.Send(request)
			request, flushAt = &pb.PlayRequest{}, time.Now().Add(flushAfter)
		}
	}
	if len(request.Answers)+len(request.Resignations) > 0 || request.Heartbeat != 0 {
		_ = s.stream.Send(request)
	}
	return nil
}
