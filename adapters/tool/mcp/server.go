package mcp

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"time"
)

const (
	// DefaultTimeout bounds one call of a server that says nothing else.
	DefaultTimeout = 60 * time.Second
	// stars stand for a secret.
	stars = "********"
)

// Server is one server as the operator configured it: a program, or an address. It
// holds secrets and is not to be printed.
type Server struct {
	Name string
	Off  string // why it is not used; empty: it is

	Command     string
	Args        []string
	Env         []string // NAME=value, beside PATH and HOME
	Dir         string   // where it starts; empty: its home, or the project if an argument names something there
	Read, Write []string // what it may read, or change, beside its home
	// Fetch are arguments with which Command, a package runner, only fetches what it runs
	// for Args; empty: it is none.
	Fetch   []string
	Network bool

	URL     string
	Headers http.Header

	Allow   []string // tools that do not ask; * is all
	Timeout time.Duration
	Shown   string   // for people: the command line or address without secrets
	Hidden  []string // texts that nothing may show
}

// identity is a digest of what the server is. It changes when the operator
// configures another program or address under the same name.
func (s *Server) identity() string {
	return digest("server", s.Command, strings.Join(s.Args, "\x00"), s.URL)
}

// same says that nothing of two configurations differs.
func (s *Server) same(o *Server) bool {
	a, errA := json.Marshal(s)
	b, errB := json.Marshal(o)
	return errA == nil && errB == nil && string(a) == string(b)
}

// allows says that a tool runs without asking.
func (s *Server) allows(name string) bool {
	return slices.Contains(s.Allow, "*") || slices.Contains(s.Allow, name)
}

func (s *Server) timeout() time.Duration {
	if s.Timeout <= 0 {
		return DefaultTimeout
	}
	return s.Timeout
}

// mask takes the server's secrets out of a text.
func (s *Server) mask(text string) string {
	for _, secret := range s.secrets() {
		text = strings.ReplaceAll(text, secret, stars)
	}
	return text
}

// secrets are what is hidden, the longest first: one may begin with another, and
// nothing of it is to be left.
func (s *Server) secrets() []string {
	out := slices.DeleteFunc(slices.Clone(s.Hidden), func(secret string) bool { return secret == "" })
	slices.SortStableFunc(out, func(a, b string) int { return cmp.Compare(len(b), len(a)) })
	return out
}

// withoutBegun is a text without secrets, and without the beginning of one at its end.
func (s *Server) withoutBegun(text string) string {
	text = s.mask(text) // a whole one may end as it begins
	most := 0
	for _, secret := range s.secrets() {
		for n := min(len(secret)-1, len(text)); n > most; n-- {
			if strings.HasSuffix(text, secret[:n]) {
				most = n
			}
		}
	}
	return text[:len(text)-most]
}

// line is a text of a server as one short line for people and logs.
func (s *Server) line(text string) string {
	return clean(strings.Join(strings.Fields(s.mask(text)), " "), maxLine)
}

// digest is a hash of strings that no other split of the same bytes has.
func digest(parts ...string) string {
	h := sha256.New()
	for _, p := range parts {
		sum := sha256.Sum256([]byte(p))
		h.Write(sum[:])
	}
	return hex.EncodeToString(h.Sum(nil))
}
