package messages

import (
	"regexp"
	"strings"
	"time"
)

// What a [ContextSwitch] does after it archives the working context.
const (
	ContextNew   = "new"          // start a context with the current turn
	ContextLoad  = "load"         // restore an archived context
	ContextClear = "clear_active" // like new; only the title differs
)

// ContextSwitch is an order to archive the working context of a chat and to continue in
// another one. The zero value is not an order.
type ContextSwitch struct {
	Kind string `json:"kind,omitempty"`
	// ID is the id that the working context gets in the archive.
	ID string `json:"id,omitempty"`
	// Load is the id of the archived context to restore.
	Load   string `json:"load,omitempty"`
	Title  string `json:"title,omitempty"` // of the working context; if empty, its first words
	Reason string `json:"reason,omitempty"`
}

// NewContextID makes the id of a context: its date, and letters or digits that no
// other context of that day has.
func NewContextID(now time.Time, random string) string {
	return "c_" + now.UTC().Format("20060102") + "_" + strings.ToLower(random[:min(8, len(random))])
}

var contextID = regexp.MustCompile(`^c_[0-9]{8}_[0-9a-z]{4,32}$`)

// ValidContextID reports whether a text has the form of a context's id.
func ValidContextID(id string) bool { return contextID.MatchString(id) }
