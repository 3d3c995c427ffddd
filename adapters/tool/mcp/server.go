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
	// DefaultTimeout bounds a call if the server configures no timeout.
	DefaultTimeout = 60 * time.Second
	// stars replace a secret.
	stars = "********"
)

// Server is one server as configured by the operator: a program or an address. It contains secrets and must not be
// printed.
type Server struct {
	Name string
	Off  string // why it is not used; empty if it is

	Command     string
	Args        []string
	Env         []string // NAME=value, in addition to PATH and HOME
	Dir         string   // working directory; defaults to its home, or to the project if an argument names something there
	Read, Write []string // what it may read or change, in addition to its home
	// Fetch are arguments with which Command, a package runner, only downloads what it would run with Args. It is
	// empty for other programs.
	Fetch   []string
	Network bool

	URL     string
	Headers http.Header

	Allow   []string // tools that need no approval; * is all
	Timeout time.Duration
	Shown   string   // for people: the command line or URL without secrets
	Hidden  []string // texts that must be masked
}

// identity is a digest of the program or address. It changes when the operator configures another one under the same
// name.
func (s *Server) identity() string {
	return digest("server", s.Command, strings.Join(s.Args, "\x00"), s.URL)
}

// same reports whether two configurations are equal.
func (s *Server) same(o *Server) bool {
	a, errA := json.Marshal(s)
	b, errB := json.Marshal(o)
	return errA == nil && errB == nil && string(a) == string(b)
}

// allows reports whether a tool runs without approval.
func (s *Server) allows(name string) bool {
	return slices.Contains(s.Allow, "*") || slices.Contains(s.Allow, name)
}

func (s *Server) timeout() time.Duration {
	if s.Timeout <= 0 {
		return DefaultTimeout
	}
	return s.Timeout
}

// mask replaces the server's secrets in a text.
func (s *Server) mask(text string) string {
	for _, secret := range s.secrets() {
		text = strings.ReplaceAll(text, secret, stars)
	}
	return text
}

// secrets are the texts to mask, the longest first, because one may be a prefix of another.
func (s *Server) secrets() []string {
	out := slices.DeleteFunc(slices.Clone(s.Hidden), func(secret string) bool { return secret == "" })
	slices.SortStableFunc(out, func(a, b string) int { return cmp.Compare(len(b), len(a)) })
	return out
}

// withoutBegun masks a text and removes the beginning of a secret at its end.
func (s *Server) withoutBegun(text string) string {
	text = s.mask(text) // a complete secret may end like it begins
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

// digest is a hash of a list of strings.
func digest(parts ...string) string {
	h := sha256.New()
	for _, p := range parts {
		sum := sha256.Sum256([]byte(p))
		h.Write(sum[:])
	}
	return hex.EncodeToString(h.Sum(nil))
}
