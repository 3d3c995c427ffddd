package chat

import (
	"crypto/rand"
	"strings"
	"time"
)

// newID returns a random id that sorts by time.
func newID(now time.Time) string {
	const digits = "0123456789abcdefghjkmnpqrstvwxyz"
	var b [9]byte
	ms := now.UnixMilli()
	for i := len(b) - 1; i >= 0; i-- {
		b[i] = digits[ms&31]
		ms >>= 5
	}
	return string(b[:]) + strings.ToLower(rand.Text()[:16])
}
