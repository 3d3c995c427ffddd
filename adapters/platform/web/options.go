package web

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"os"
	"regexp"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/messages"
)

// DefaultListen is the address of a host that was told nothing else.
const DefaultListen = "127.0.0.1:3000"

// ErrTokenRequired is returned when there is no token and neither Open nor Private is set.
var ErrTokenRequired = errors.New("the web platform needs a token")

// Options set a [Platform] up. Live is required, and one of Token, Open and Private.
type Options struct {
	// Platform is the first word of the chat keys; empty is web. The same handler
	// serves the command line under cli.
	Platform string
	// Listen is host:port.
	Listen string
	// AllowedHosts are further names that a browser may use for a host without a token.
	AllowedHosts []string
	// Token gives the token that people log in with; nil or an empty one means none.
	Token func() string
	// Open accepts requests without a token while none is set. It works only when Listen is
	// a loopback address, and is meant for a demonstration.
	Open bool
	// APIToken gives the token of POST /api/execute; without one there is no such route.
	APIToken func() string
	// Private says that only the owner can reach the handler, for example through a
	// unix socket: it then asks for no token and checks neither host nor origin.
	Private bool

	Live platform.Live
	// Owner is who writes here. The id defaults to owner.
	Owner platform.Person
	// Chats lists the chats of this platform, newest first; nil lists none.
	Chats func(ctx context.Context) ([]ChatSummary, error)
	// Forget deletes all that is kept of a chat; platform.ErrNotFound: there is none. Rename
	// gives it the title by which lists show it; empty: what it begins with. Both may be nil.
	Forget func(ctx context.Context, key messages.ChatKey) error
	Rename func(ctx context.Context, key messages.ChatKey, title string) error
	// Info describes the host to the page; nil gives nothing.
	Info func() Info

	// Voice opens a voice message that was spoken in a chat; fs.ErrNotExist: there is no
	// such thing. Nil: there are none.
	Voice func(key messages.ChatKey, name string) (*os.File, error)

	// Files keeps what people upload; nil: files stay in the messages that hold them.
	Files Files

	// Commands are what the host answers by itself when a message is one of them with a
	// slash; nil: everything is for the model.
	Commands []Command

	// Failure words the reason of a run that failed; nil: people read the reason itself.
	Failure func(reason string) (english, chinese string)

	Logger     *slog.Logger
	Registerer prometheus.Registerer
	// Listening is called with the address once the server takes connections.
	Listening func(addr net.Addr)

	MaxBody      int64         // bytes of a request body; default 1 MiB
	BodyTimeout  time.Duration // for a whole body; default 10 s
	WriteTimeout time.Duration // for each write; default 10 s
	Heartbeat    time.Duration // between comments on a silent stream; default 10 s
}

// ChatSummary is one line of the list of chats.
type ChatSummary struct {
	ID        string    `json:"id"`
	Title     string    `json:"title"`
	UpdatedAt time.Time `json:"updatedAt"`
	Running   bool      `json:"running"`
}

// Info is what the page shows of the host. None of it is secret.
type Info struct {
	Project string `json:"project"`
	Model   string `json:"model"`
	Demo    bool   `json:"demo"`
	Version string `json:"version,omitempty"`
	// Suggestions are offered in an empty chat; nil: those of the demo model, if it is one.
	Suggestions []string `json:"-"`
}

// Command is one that the host answers.
type Command struct {
	Name string `json:"name"` // without the slash
	// English and Chinese say what it does, in a line.
	English string `json:"en"`
	Chinese string `json:"zh"`
	// API: it is one in the instructions of POST /api/execute, too.
	API bool `json:"-"`
}

var platformName = regexp.MustCompile(`^[a-z]+(@[A-Za-z0-9_.-]+)?$`)

// withDefaults fills in what was left out and checks the rest.
func (o Options) withDefaults() (Options, error) {
	if o.Platform == "" {
		o.Platform = "web"
	}
	if !platformName.MatchString(o.Platform) {
		return o, errors.New("web: bad platform name")
	}
	if o.Live == nil {
		return o, errors.New("web: Options.Live is missing")
	}
	if o.Listen == "" {
		o.Listen = DefaultListen
	}
	if o.Owner.ID == "" {
		o.Owner.ID = "owner"
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.MaxBody <= 0 {
		o.MaxBody = 1 << 20
	}
	o.BodyTimeout = orDuration(o.BodyTimeout, 10*time.Second)
	o.WriteTimeout = orDuration(o.WriteTimeout, 10*time.Second)
	o.Heartbeat = orDuration(o.Heartbeat, 10*time.Second)
	free := o.Private || o.Open && isLoopback(o.Listen)
	if !free && value(o.Token) == "" {
		return o, ErrTokenRequired
	}
	return o, nil
}

func orDuration(d, otherwise time.Duration) time.Duration {
	if d <= 0 {
		return otherwise
	}
	return d
}

// value calls a secret's function; nil gives the empty string.
func value(secret func() string) string {
	if secret == nil {
		return ""
	}
	return secret()
}

// isLoopback reports whether only programs of this machine can reach host:port.
// Names other than localhost are taken as reachable by others.
func isLoopback(listen string) bool {
	host, _, err := net.SplitHostPort(listen)
	return err == nil && isLoopbackHost(host)
}
