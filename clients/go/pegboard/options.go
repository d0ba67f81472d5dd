package pegboard

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode"

	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/keepalive"
)

const (
	defaultAddress  = "localhost:50151"
	socketPathBytes = 107 // the longest path that a Unix socket can have
	messageBytes    = 64 << 20
)

// Options say which server to play at, and as which bot.
type Options struct {
	Address  string        // host:port, https://host:port (TLS) or unix:/path; the path stands as it is
	Token    string        // the bot's bearer token
	Patience time.Duration // how long a lost server is waited for; 0: a minute
}

// FromEnvironment returns the options that PEGBOARD_ADDRESS and PEGBOARD_TOKEN give.
func FromEnvironment() Options {
	return Options{Address: os.Getenv("PEGBOARD_ADDRESS"), Token: os.Getenv("PEGBOARD_TOKEN")}
}

func (o Options) where() string {
	if o.Address == "" {
		return defaultAddress + " (PEGBOARD_ADDRESS is not set)"
	}
	return o.Address
}

// address is one that was read: the path of a socket, or a host and port. local: on this machine.
type address struct {
	socket, hostPort string
	secure, local    bool
}

var hostPort = regexp.MustCompile(`^(\[[0-9A-Fa-f:.%\w]+\]|[^\s:/?#@\[\]%]+):([0-9]{1,5})$`)

func parseAddress(text string) (address, error) {
	if strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return address{}, fmt.Errorf("the address %q has characters in it that cannot be printed", text)
	}
	if path, found := strings.CutPrefix(text, "unix:"); found {
		return socketAddress(text, path)
	}
	rest, secure := strings.CutPrefix(text, "https://")
	if rest = strings.TrimPrefix(rest, "http://"); rest != text {
		rest = strings.TrimSuffix(rest, "/")
	}
	found := hostPort.FindStringSubmatch(rest)
	if found == nil {
		return address{}, notAnAddress(text)
	}
	if port, _ := strconv.Atoi(found[2]); port < 1 || port > 65535 {
		return address{}, notAnAddress(text)
	}
	host := strings.ToLower(strings.Trim(found[1], "[]"))
	ip, err := netip.ParseAddr(host)
	loopback := strings.TrimSuffix(host, ".") == "localhost" || err == nil && ip.IsLoopback()
	return address{hostPort: rest, secure: secure, local: loopback}, nil
}

func notAnAddress(text string) error {
	return fmt.Errorf("%.200q is not an address; write host:port (an IPv6 host in brackets),"+
		" https://host:port or unix:/path/of/the/socket", text)
}

func socketAddress(text, path string) (address, error) {
	if rest, found := strings.CutPrefix(path, "//"); found {
		if path = rest; !strings.HasPrefix(path, "/") {
			return address{}, fmt.Errorf("%.200q is not an address; write unix:/path or unix:///path", text)
		}
	}
	if path == "" {
		return address{}, errors.New("the address 'unix:' has no path; write unix:/path/of/the/socket")
	}
	if len(path) > socketPathBytes {
		return address{}, fmt.Errorf("the socket path %.40s... has %d bytes; at most %d are possible",
			path, len(path), socketPathBytes)
	}
	return address{socket: path, local: true}, nil
}

// dial makes the connection; nothing is connected yet.
func (o Options) dial() (*grpc.ClientConn, error) {
	text := o.Address
	if text == "" {
		text = defaultAddress
	}
	to, err := parseAddress(text)
	if err != nil {
		return nil, err
	}
	credential := insecure.NewCredentials()
	if to.secure {
		credential = credentials.NewClientTLSFromCert(nil, "")
	}
	options := []grpc.DialOption{
		grpc.WithTransportCredentials(credential),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(messageBytes)),
		grpc.WithKeepaliveParams(keepalive.ClientParameters{Time: 20 * time.Second, Timeout: 20 * time.Second}),
		grpc.WithDisableServiceConfig(), // it would be asked of DNS at every connection
		// A server that comes back is found again within about a second. On a busy machine a
		// handshake may take longer than that.
		grpc.WithConnectParams(grpc.ConnectParams{
			Backoff:           backoff.Config{BaseDelay: backoffFirst, Multiplier: 2, Jitter: 0.2, MaxDelay: time.Second},
			MinConnectTimeout: 20 * time.Second,
		}),
	}
	if to.local { // a proxy of the environment cannot reach the loopback of this machine
		options = append(options, grpc.WithNoProxy())
	}
	if to.socket == "" {
		return grpc.NewClient("dns:///"+to.hostPort, options...)
	}
	// gRPC reads a target as a URI, in which %, # and ? have a meaning: the dialer takes the path as it is.
	dialer := func(ctx context.Context, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", to.socket)
	}
	return grpc.NewClient("passthrough:///localhost", append(options, grpc.WithContextDialer(dialer))...)
}
