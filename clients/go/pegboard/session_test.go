package pegboard_test

import (
	"context"
	"crypto/tls"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"github.com/pegboard/pegboard/clients/go/pegboard"
	pb "github.com/pegboard/pegboard/clients/go/pegboard/v1"
)

const within = time.Minute // a test waits for a condition; this long only if it fails

// server plays its scripts, one a connection, the last one for all further ones.
type server struct {
	pb.UnimplementedPlayServiceServer
	mutex   sync.Mutex
	scripts []func(peer) error
}

// peer is the server's end of a stream.
type peer struct {
	pb.PlayService_PlayServer
	hello *pb.Hello
}

func (s *server) Play(stream pb.PlayService_PlayServer) error {
	request, err := stream.Recv()
	if err != nil {
		return err
	}
	s.mutex.Lock()
	script := s.scripts[0]
	if len(s.scripts) > 1 {
		s.scripts = s.scripts[1:]
	}
	s.mutex.Unlock()
	return script(peer{stream, request.Hello})
}

func (p peer) send(response *pb.PlayResponse) { _ = p.Send(response) }

func (p peer) welcome() {
	p.send(&pb.PlayResponse{Welcome: &pb.Welcome{Bot: "bots/x", ProtocolVersion: 1, HeartbeatIntervalMs: 60_000}})
}

// serve starts a server with these scripts at an address.
func serve(t *testing.T, address string, scripts ...func(peer) error) *grpc.Server {
	t.Helper()
	network, at := "unix", strings.TrimPrefix(address, "unix:")
	listener, err := net.Listen(network, at)
	if err != nil {
		t.Fatal(err)
	}
	return serveAt(t, listener, scripts)
}

func serveAt(t *testing.T, listener net.Listener, scripts []func(peer) error, options ...grpc.ServerOption) *grpc.Server {
	running := grpc.NewServer(options...)
	pb.RegisterPlayServiceServer(running, &server{scripts: scripts})
	go func() { _ = running.Serve(listener) }()
	t.Cleanup(running.Stop)
	return running
}

func socket(t *testing.T) string { return "unix:" + filepath.Join(t.TempDir(), "s") }

// playing is a bot that plays until its test is over.
type playing struct {
	leave context.CancelFunc
	ended chan error
}

func play(t *testing.T, bot *pegboard.Bot, address string) playing {
	ctx, leave := context.WithCancel(context.Background())
	p := playing{leave, make(chan error, 1)}
	go func() { p.ended <- bot.Play(ctx, pegboard.Options{Address: address, Token: "secret"}) }()
	t.Cleanup(leave)
	return p
}

// end returns how the bot ended.
func (p playing) end(t *testing.T) error {
	t.Helper()
	return await(t, p.ended)
}

func await[T any](t *testing.T, from <-chan T) T {
	t.Helper()
	select {
	case value := <-from:
		return value
	case <-time.After(within):
		t.Fatal("nothing came")
	}
	panic("not reached")
}

func turn(id uint64, moves int) *pb.Turn {
	asked := &pb.Turn{Match: "matches/a", Seat: 1, TurnId: id}
	for range moves {
		asked.LegalMoves = append(asked.LegalMoves, &pb.GameMove{})
	}
	return asked
}

func turns(asked ...*pb.Turn) *pb.PlayResponse { return &pb.PlayResponse{Turns: asked} }

func first(*pegboard.Turn) pegboard.Choice { return pegboard.Index(0) }

func answerTexts(request *pb.PlayRequest) string {
	var texts []string
	for _, answer := range request.GetAnswers() {
		text := fmt.Sprintf("%d:%d", answer.TurnId, answer.GetIndex())
		if answer.Number != nil {
			text += fmt.Sprintf("=%d", *answer.Number)
		}
		texts = append(texts, text)
	}
	return strings.Join(texts, " ")
}

// exchange lets a server send responses to a bot, and returns what the bot sends back in so many messages.
func exchange(t *testing.T, bot *pegboard.Bot, messages int, responses ...*pb.PlayResponse) []*pb.PlayRequest {
	t.Helper()
	requests := make(chan *pb.PlayRequest, messages)
	address := socket(t)
	serve(t, address, func(p peer) error {
		p.welcome()
		for _, response := range responses {
			p.send(response)
		}
		for range messages {
			request, err := p.Recv()
			if err != nil {
				return err
			}
			requests <- request
		}
		return nil
	})
	if err := play(t, bot, address).end(t); err != nil {
		t.Fatal(err)
	}
	close(requests)
	var found []*pb.PlayRequest
	for request := range requests {
		found = append(found, request)
	}
	return found
}

func expect(t *testing.T, found, expected string) {
	t.Helper()
	if found != expected {
		t.Errorf("found %q, expected %q", found, expected)
	}
}

func TestAllTurnsOfAMessageAreAnsweredInOne(t *testing.T) {
	bot := &pegboard.Bot{Choose: func(asked *pegboard.Turn) pegboard.Choice {
		if asked.TurnId == 2 {
			return pegboard.Number(1, 7)
		}
		return pegboard.Index(0)
	}}
	requests := exchange(t, bot, 1, turns(turn(1, 1), turn(2, 2), turn(3, 1)))
	expect(t, answerTexts(requests[0]), "1:0 2:1=7 3:0")
}

func TestTurnsGatherWhileTheBotIsBusy(t *testing.T) {
	address, choosing, gathered, answers := socket(t), make(chan bool, 2), make(chan bool), make(chan string, 2)
	serve(t, address, func(p peer) error {
		p.welcome()
		p.send(turns(turn(1, 1)))
		<-choosing
		p.send(turns(turn(2, 1)))
		p.send(turns(turn(3, 1)))
		p.send(&pb.PlayResponse{Started: []*pb.MatchStarted{{Match: "matches/b"}}})
		for range 2 {
			request, _ := p.Recv()
			answers <- answerTexts(request)
		}
		return nil
	})
	play(t, &pegboard.Bot{
		ChooseBatch: func(asked []*pegboard.Turn) []pegboard.Choice {
			choosing <- true
			<-gathered
			return make([]pegboard.Choice, len(asked))
		},
		Started: func(*pb.MatchStarted) { close(gathered) },
	}, address)
	expect(t, await(t, answers), "1:0")
	expect(t, await(t, answers), "2:0 3:0")
}

func TestASlowBatchIsAnsweredInParts(t *testing.T) {
	bot := &pegboard.Bot{Choose: func(*pegboard.Turn) pegboard.Choice {
		time.Sleep(10 * time.Millisecond)
		return pegboard.Index(0)
	}}
	requests := exchange(t, bot, 2, turns(turn(1, 1), turn(2, 1)))
	expect(t, answerTexts(requests[0])+", "+answerTexts(requests[1]), "1:0, 2:0")
}

func TestARejectedTurnIsAskedAgainWithTheRejection(t *testing.T) {
	bot := &pegboard.Bot{Choose: func(asked *pegboard.Turn) pegboard.Choice {
		if asked.Refused != nil && asked.Refused.Detail == "no such move" {
			return pegboard.Index(1)
		}
		return pegboard.Index(0)
	}}
	rejected := func(id uint64, reason pb.RejectionReason) *pb.MoveRejected {
		return &pb.MoveRejected{Match: "matches/a", Seat: 1, TurnId: id, Reason: reason, Detail: "no such move", AttemptsLeft: 2}
	}
	response := turns(turn(1, 2), turn(2, 2), turn(3, 2), turn(4, 2), turn(1, 2))
	response.Rejected = []*pb.MoveRejected{rejected(1, 1), rejected(2, 2), rejected(3, 99), rejected(4, 5)}
	requests := exchange(t, bot, 1, response)
	expect(t, answerTexts(requests[0]), "1:1 2:0 3:0 4:1 1:0") // told once, and only if the turn stays open
}

func TestATurnThatComesTwiceIsAnsweredTwice(t *testing.T) {
	requests := exchange(t, &pegboard.Bot{Choose: first}, 1, turns(turn(1, 1), turn(1, 1)))
	expect(t, answerTexts(requests[0]), "1:0 1:0")
}

func TestResigns(t *testing.T) {
	bot := &pegboard.Bot{Choose: func(*pegboard.Turn) pegboard.Choice { return pegboard.Resign }}
	requests := exchange(t, bot, 1, turns(turn(1, 1)))
	resigned := requests[0].Resignations
	if len(resigned) != 1 || resigned[0].Match != "matches/a" || resigned[0].Seat != 1 || len(requests[0].Answers) > 0 {
		t.Errorf("sent %v", requests[0])
	}
}

func TestHeartbeatsAreAnswered(t *testing.T) {
	requests := exchange(t, &pegboard.Bot{Choose: first}, 1, &pb.PlayResponse{Heartbeat: 17})
	expect(t, fmt.Sprint(requests[0].Heartbeat), "17")
}

func TestWhatIsUnknownIsIgnored(t *testing.T) {
	unknown := protowire.AppendString(protowire.AppendTag(nil, 1999, protowire.BytesType), "from later")
	asked := turn(1, 1)
	asked.ProtoReflect().SetUnknown(unknown)
	response := turns(asked)
	response.ProtoReflect().SetUnknown(unknown)
	known := &pb.MatchEvent{Sequence: 2, Kind: &pb.MatchEvent_MatchEnded{MatchEnded: &pb.MatchResult{}}}
	response.Events = []*pb.SeatEvents{{Match: "matches/a", Events: []*pb.MatchEvent{{Sequence: 1}, known}}}
	response.Ended = []*pb.MatchEnded{{Match: "matches/b", Result: &pb.MatchResult{Termination: 99}}}
	var told []uint64
	bot := &pegboard.Bot{
		Choose: first,
		Event:  func(_ string, _ uint32, event *pb.MatchEvent) { told = append(told, event.Sequence) },
		Ended:  func(*pb.MatchEnded) { told = append(told, 99) },
	}
	requests := exchange(t, bot, 1, response)
	expect(t, answerTexts(requests[0]), "1:0")
	expect(t, fmt.Sprint(told), "[2 99]")
}

func TestHelloTellsTokenAndKit(t *testing.T) {
	hellos, address := make(chan *pb.Hello, 1), socket(t)
	serve(t, address, func(p peer) error {
		hellos <- p.hello
		return nil
	})
	play(t, &pegboard.Bot{Choose: first, MaxOpenTurns: 3}, address)
	expected := &pb.Hello{
		Token: "secret", Kit: "pegboard-go", KitVersion: pegboard.Version, ProtocolVersion: 1, MaxOpenTurns: 3,
	}
	if hello := await(t, hellos); !proto.Equal(hello, expected) {
		t.Errorf("said %v", hello)
	}
}

func failing(code codes.Code, reason string) func(peer) error {
	return func(p peer) error {
		p.welcome()
		failed, _ := status.New(code, "the sentence").WithDetails(&errdetails.ErrorInfo{Domain: "pegboard", Reason: reason})
		return failed.Err()
	}
}

func TestErrorsThatStopTheBot(t *testing.T) {
	for reason, code := range map[string]codes.Code{
		"UNAUTHENTICATED": codes.Unauthenticated, "PERMISSION_DENIED": codes.PermissionDenied,
		"INVALID_REQUEST": codes.InvalidArgument, "REPLACED": codes.Aborted, "TOO_MANY_REQUESTS": codes.ResourceExhausted,
	} {
		address := socket(t)
		serve(t, address, failing(code, reason))
		var told *pegboard.Error
		err := play(t, &pegboard.Bot{Choose: first}, address).end(t)
		if !errors.As(err, &told) || told.Reason != reason || told.Code != code || told.Error() != "the sentence" {
			t.Errorf("%s ended the bot with %#v", reason, err)
		}
	}
}

func TestErrorsAfterWhichTheBotComesBack(t *testing.T) {
	for reason, code := range map[string]codes.Code{
		"SILENT": codes.DeadlineExceeded, "UNAVAILABLE": codes.Unavailable, "SERVER_FAULT": codes.Internal,
	} {
		address := socket(t)
		serve(t, address, failing(code, reason), failing(code, reason), func(peer) error { return nil })
		if err := play(t, &pegboard.Bot{Choose: first}, address).end(t); err != nil {
			t.Errorf("%s ended the bot with %v", reason, err)
		}
	}
}

// answersOne asks a turn and ends well if it is answered.
func answersOne(answers chan<- string) func(peer) error {
	return func(p peer) error {
		p.welcome()
		p.send(turns(turn(1, 1)))
		request, err := p.Recv()
		answers <- answerTexts(request)
		return err
	}
}

func TestAConnectionDroppedInAMatchIsMadeAgain(t *testing.T) {
	address, answers, asked := socket(t), make(chan string, 1), make(chan bool)
	running := serve(t, address, func(p peer) error {
		p.welcome()
		p.send(turns(turn(1, 1)))
		_, _ = p.Recv()
		close(asked)
		<-p.Context().Done()
		return nil
	})
	bot := play(t, &pegboard.Bot{Choose: first}, address)
	await(t, asked)
	running.Stop()
	serve(t, address, answersOne(answers))
	expect(t, await(t, answers), "1:0")
	if err := bot.end(t); err != nil {
		t.Error(err)
	}
}

func TestSilenceOfThreeIntervalsIsALostConnection(t *testing.T) {
	address, answers := socket(t), make(chan string, 1)
	silent := func(p peer) error {
		p.send(&pb.PlayResponse{Welcome: &pb.Welcome{ProtocolVersion: 1, HeartbeatIntervalMs: 10}})
		<-p.Context().Done()
		return nil
	}
	serve(t, address, silent, answersOne(answers))
	play(t, &pegboard.Bot{Choose: first}, address)
	expect(t, await(t, answers), "1:0")
}

func TestToldToStopItAnswersTheTurnUnderWayAndHalfCloses(t *testing.T) {
	address, received := socket(t), make(chan string, 2)
	serve(t, address, func(p peer) error {
		p.welcome()
		p.send(turns(turn(1, 1), turn(2, 1)))
		for {
			request, err := p.Recv()
			if errors.Is(err, io.EOF) {
				received <- "half-closed"
				return nil
			}
			received <- answerTexts(request)
		}
	})
	choosing, told := make(chan bool), make(chan bool)
	bot := play(t, &pegboard.Bot{Choose: func(*pegboard.Turn) pegboard.Choice {
		close(choosing)
		<-told
		return pegboard.Index(0)
	}}, address)
	await(t, choosing)
	bot.leave()
	close(told)
	expect(t, await(t, received), "1:0")
	expect(t, await(t, received), "half-closed")
	if err := bot.end(t); err != nil {
		t.Error(err)
	}
}

func TestToldToStopItLeavesAServerThatDoesNotAnswer(t *testing.T) {
	address, arrived := socket(t), make(chan bool)
	serve(t, address, func(p peer) error {
		p.welcome()
		close(arrived)
		<-p.Context().Done()
		return nil
	})
	bot := play(t, &pegboard.Bot{Choose: first}, address)
	await(t, arrived)
	bot.leave()
	if err := bot.end(t); err != nil {
		t.Error(err)
	}
	waiting := play(t, &pegboard.Bot{Choose: first}, socket(t))
	waiting.leave()
	if err := waiting.end(t); err != nil {
		t.Error(err)
	}
}

func TestAServerOfAnotherProtocolVersionIsTold(t *testing.T) {
	address := socket(t)
	serve(t, address, func(p peer) error {
		p.send(&pb.PlayResponse{Welcome: &pb.Welcome{ProtocolVersion: 2}})
		<-p.Context().Done()
		return nil
	})
	err := play(t, &pegboard.Bot{Choose: first}, address).end(t)
	expect(t, fmt.Sprint(err), "the server speaks version 2 of the protocol, this kit version 1; take a kit that fits")
}

func TestAChoiceOfAWrongKindEndsTheBot(t *testing.T) {
	bots := map[string]*pegboard.Bot{
		"choose one below 1":            {Choose: func(*pegboard.Turn) pegboard.Choice { return pegboard.Index(1) }},
		"return one for each, in order": {ChooseBatch: func([]*pegboard.Turn) []pegboard.Choice { return nil }},
	}
	for sentence, bot := range bots {
		address := socket(t)
		serve(t, address, answersOne(make(chan string, 1)))
		if err := play(t, bot, address).end(t); err == nil || !strings.Contains(err.Error(), sentence) {
			t.Errorf("ended with %v, expected %q", err, sentence)
		}
	}
}

func TestNoServerListens(t *testing.T) {
	options := pegboard.Options{Address: socket(t), Token: "secret", Patience: 50 * time.Millisecond}
	err := (&pegboard.Bot{Choose: first}).Play(context.Background(), options)
	if err == nil || !strings.HasPrefix(err.Error(), "no server at "+options.Address+" for 50ms (") {
		t.Errorf("ended with %v", err)
	}
}

func TestOptionsThatCannotBeUsed(t *testing.T) {
	bot := &pegboard.Bot{Choose: first}
	for address, sentence := range map[string]string{
		"nonsense": "is not an address", "host:0": "is not an address", "host:65536": "is not an address",
		"host:1/path": "is not an address", "ftp://host:1": "is not an address", "::1:50": "is not an address",
		"unix:": "has no path", "unix://relative": "unix:/path or unix:///path", "a\nb:1": "cannot be printed",
		"unix:/" + strings.Repeat("x", 107): "at most 107",
	} {
		err := bot.Play(context.Background(), pegboard.Options{Address: address, Token: "secret"})
		if err == nil || !strings.Contains(err.Error(), sentence) {
			t.Errorf("%q ended the bot with %v", address, err)
		}
	}
	err := bot.Play(context.Background(), pegboard.Options{Address: "localhost:1"})
	expect(t, fmt.Sprint(err), "PEGBOARD_TOKEN is not set; give it the token of the bot")
}

func TestPathsOfSocketsStandAsTheyAre(t *testing.T) {
	for _, name := range []string{"a b", "%41", "a?b#c", "a,b", "ü", "a:b"} {
		path := filepath.Join(t.TempDir(), name)
		answers := make(chan string, 1)
		serve(t, "unix:"+path, answersOne(answers))
		for _, prefix := range []string{"unix:", "unix://"} {
			play(t, &pegboard.Bot{Choose: first}, prefix+path)
			expect(t, await(t, answers), "1:0")
		}
	}
}

func TestTCPWithAndWithoutTLS(t *testing.T) {
	web := httptest.NewTLSServer(nil) // has a certificate for 127.0.0.1
	web.Close()
	trusted := filepath.Join(t.TempDir(), "trusted.pem")
	block := &pem.Block{Type: "CERTIFICATE", Bytes: web.Certificate().Raw}
	if err := os.WriteFile(trusted, pem.EncodeToMemory(block), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("SSL_CERT_FILE", trusted)
	secure := grpc.Creds(credentials.NewTLS(&tls.Config{Certificates: web.TLS.Certificates, MinVersion: tls.VersionTLS12}))
	for prefix, options := range map[string][]grpc.ServerOption{"": nil, "http://": nil, "https://": {secure}} {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		answers := make(chan string, 1)
		serveAt(t, listener, []func(peer) error{answersOne(answers)}, options...)
		play(t, &pegboard.Bot{Choose: first}, prefix+listener.Addr().String())
		expect(t, await(t, answers), "1:0")
	}
}
