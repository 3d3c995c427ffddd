package access

import (
	"crypto/rand"
	"crypto/subtle"
	"strings"
	"time"
	"unicode"
)

const (
	codeLength = 8
	codeLife   = time.Hour
	// askLife is how long an access request stays pending. Only the owner can use its code.
	askLife = 24 * time.Hour
	// alphabet leaves out characters that look like others: 0 O, 1 I L, 2 Z, 5 S, 8 B, U V.
	alphabet = "34679ACDEFGHJKMNPQRTWXY"
)

// newCode draws characters uniformly: bytes beyond the last full alphabet are dropped.
func newCode() string {
	var out strings.Builder
	var buf [16]byte
	for out.Len() < codeLength {
		_, _ = rand.Read(buf[:]) // never fails
		for _, b := range buf {
			if int(b) < 256/len(alphabet)*len(alphabet) && out.Len() < codeLength {
				out.WriteByte(alphabet[int(b)%len(alphabet)])
			}
		}
	}
	return out.String()
}

// normal normalizes a code for comparison: people type spaces, dashes and lower-case letters, and
// paste quotation marks or a full stop along with it.
func normal(code string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) || unicode.IsPunct(r) || r == '`' {
			return -1
		}
		return r
	}, strings.ToUpper(code))
}

// find looks a code up among the open ones of one kind, always comparing with all of them.
func (a *Account) find(code string, owner bool, now time.Time) int {
	code, at := normal(code), -1
	for i, c := range a.Codes {
		equal := subtle.ConstantTimeCompare([]byte(c.Code), []byte(code)) == 1
		if equal && (c.For == nil) == owner && now.Before(c.Expires) {
			at = i
		}
	}
	return at
}

// attempts counts the wrong codes that somebody has tried since a time.
type attempts struct {
	n     int
	since time.Time
}

const (
	maxTries    = 5
	triesPeriod = time.Hour
	maxTriers   = 10_000 // the minimum number of people whose attempts are kept
)

// exhausted reports whether somebody has tried too many wrong codes.
func (s *Store) exhausted(bot, person string) bool {
	a, _ := s.tries.Get(bot + " " + person)
	return a.n >= maxTries && s.now().Sub(a.since) < triesPeriod
}

// missed counts a wrong code.
func (s *Store) missed(bot, person string) {
	now := s.now()
	s.tries.Update(bot+" "+person, func(a attempts, _ bool) attempts {
		if now.Sub(a.since) >= triesPeriod {
			a = attempts{since: now}
		}
		a.n++
		return a
	})
}
