package web

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"os"
	"regexp"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/messages"
)

// ErrTokenRequired is returned when there is no token and neither Open nor Private is set.
var ErrTokenRequired = errors.New("the web platform needs a token")

// Options configure a [Platform]. Live is required, and one of Token, Open and Private.
type Options struct {
	// Platform is the first word of the chat keys; the default is web. The same handler serves the
	// command line under cli.
	Platform string
	// Listen is host:port.
	Listen string
	// Token returns the token that people log in with. There is none if it is nil or returns an
	// empty string.
	Token func() string
	// SessionSecret, if set, is a long random text for signing sessions, which then outlive the process.
	SessionSecret string
	// Bot is something that no other bot of this machine has, and that stays over restarts. The cookie of sessions is
	// named after its hash, because browsers send a cookie to all ports and keep one of each name.
	Bot string
	// Open accepts requests without a token while none is set. It works only if Listen is a
	// loopback address, and is meant for demonstrations.
	Open bool
	// APIToken returns the token of POST /api/execute; without one that route does not exist.
	APIToken func() string
	// Console is served at /console/, to whom the guard lets in; it may be nil. [RoleOf] tells it who
	// asks. It sets its own write deadlines for responses that take long. If Private, it is not served.
	Console http.Handler
	// ViewerToken returns the token of those who may only look at the console, and there only at what
	// it shows to [RoleViewer]. There is none if it is nil or returns an empty string. If it is equal
	// to Token, it gives the rights of that.
	ViewerToken func() string
	// Private means that only the owner can reach the handler, for example through a unix socket:
	// it then requires no token and checks neither host nor origin.
	Private bool

	Live platform.Live
	// Owner is the person who writes here. The id defaults to owner.
	Owner platform.Person
	// Chats lists the newest chats of this platform, at most so many, newest first; nil means an empty list.
	Chats func(ctx context.Context, most int) ([]ChatSummary, error)
	// Forget deletes everything stored about a chat; the error is platform.ErrNotFound if it does
	// not exist. Rename sets the title in lists; an empty title restores the default, the beginning
	// of the chat. Both may be nil.
	Forget func(ctx context.Context, key messages.ChatKey) error
	Rename func(ctx context.Context, key messages.ChatKey, title string) error
	// Info describes the host to the page; it may be nil.
	Info func() Info

	// Voice opens a voice message that was spoken in a chat; the error is fs.ErrNotExist if it does
	// not exist. Voice is nil if there are no voice messages.
	Voice func(key messages.ChatKey, name string) (*os.File, error)

	// Files stores what people upload. If nil, files remain in the messages that contain them.
	Files Files

	// Commands are what the host answers itself, if a message is one of them with a slash. If nil,
	// everything goes to the model.
	Commands []Command

	// Failure words the reason of a failed run. If nil, people read the reason itself.
	Failure func(reason string) (english, chinese string)

	Logger     *slog.Logger
	Registerer prometheus.Registerer

	MaxBody      int64         // maximum size of a request body in bytes; default 1 MiB
	BodyTimeout  time.Duration // time limit for a whole body; default 10 s
	WriteTimeout time.Duration // time limit for each write; default 10 s
	Heartbeat    time.Duration // interval of comments on a silent stream; default 10 s
}

// ChatSummary is one line of the list of chats.
type ChatSummary struct {
	ID        string    `json:"id"`
	Title     string    `json:"title"`
	UpdatedAt time.Time `json:"updatedAt"`
}

// Info is what the page shows about the host. None of it is secret.
type Info struct {
	Project string `json:"project"`
	Model   string `json:"model"`
	Demo    bool   `json:"demo"`
	Version string `json:"version,omitempty"`
}

// Command is a command that the host answers.
type Command struct {
	Name string `json:"name"` // without the slash
	// English and Chinese describe it in a line.
	English string `json:"en"`
	Chinese string `json:"zh"`
	// API: the command also works in the instructions of POST /api/execute.
	API bool `json:"-"`
}

var platformName = regexp.MustCompile(`^[a-z]+(@[A-Za-z0-9_.-]+)?$`)

// withDefaults fills in defaults and validates the rest.
func (o Options) withDefaults() (Options, error) {
	o.Platform = cmp.Or(o.Platform, "web")
	if !platformName.MatchString(o.Platform) {
		return o, errors.New("web: bad platform name")
	}
	if o.Live == nil {
		return o, errors.New("web: Options.Live is missing")
	}
	o.Listen, o.Owner.ID = cmp.Or(o.Listen, "127.0.0.1:3000"), cmp.Or(o.Owner.ID, "owner")
	o.Logger, o.MaxBody = cmp.Or(o.Logger, slog.New(slog.DiscardHandler)), cmp.Or(o.MaxBody, 1<<20)
	o.BodyTimeout, o.WriteTimeout, o.Heartbeat = cmp.Or(o.BodyTimeout, 10*time.Second), cmp.Or(o.WriteTimeout, 10*time.Second), cmp.Or(o.Heartbeat, 10*time.Second)
	free := o.Private || o.Open && isLoopback(o.Listen)
	if !free && value(o.Token) == "" {
		return o, ErrTokenRequired
	}
	return o, nil
}

// value calls a secret's function; nil gives the empty string.
func value(secret func() string) string {
	if secret == nil {
		return ""
	}
	return secret()
}

// isLoopback reports whether only programs on this machine can reach host:port. Names other than
// localhost count as reachable by others.
func isLoopback(listen string) bool {
	host, _, err := net.SplitHostPort(listen)
	return err == nil && isLoopbackHost(host)
}
