package pegboard

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

const lineMost = 1000

// Error is an error that the server told, or gRPC on the way to it.
type Error struct {
	Code   codes.Code
	Reason string // of the google.rpc.ErrorInfo, such as UNAUTHENTICATED or REPLACED; empty if there is none
	Detail string // a sentence for a person
}

func (e *Error) Error() string { return e.Detail }

// comesBack says whether a new connection may help (clients/README.md, "Errors of the stream").
func (e *Error) comesBack() bool {
	return e.Code == codes.Unavailable || e.Code == codes.DeadlineExceeded || e.Code == codes.Internal
}

// decode returns the error of a stream, nil at its good end.
func decode(err error) error {
	if err == nil || errors.Is(err, io.EOF) {
		return nil
	}
	found := status.Convert(err)
	decoded := &Error{Code: found.Code(), Detail: found.Message()}
	for _, detail := range found.Details() {
		if info, ok := detail.(*errdetails.ErrorInfo); ok && info.Domain == "pegboard" {
			decoded.Reason = info.Reason
		}
	}
	if decoded.Detail == "" {
		decoded.Detail = fmt.Sprintf("the stream ended with %s and no sentence", found.Code())
	}
	return decoded
}

// line returns text of others as one line that a terminal may show.
func line(text string) string {
	shown := strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, text)
	if runes := []rune(shown); len(runes) > lineMost {
		return string(runes[:lineMost]) + "..."
	}
	return shown
}
