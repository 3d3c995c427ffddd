package platform

import (
	"errors"
	"fmt"
	"time"
)

// Errors that the core returns to platforms.
var (
	// ErrUnavailable: the host is stopping or the store refuses writes; nothing was accepted.
	ErrUnavailable = errors.New("the host accepts no messages now")
	// ErrBusy: a run is in progress.
	ErrBusy = errors.New("a run is in progress in this chat")
	// ErrNotFound: the chat or message does not exist.
	ErrNotFound = errors.New("no such chat or message")
)

// SendReason classifies a failed send. It is also the metric label.
type SendReason string

// The reasons for a failed send.
const (
	SendRate      SendReason = "rate"      // 429; RetryAfter says how long
	SendNetwork   SendReason = "network"   // not connected, reset, timed out
	SendServer    SendReason = "server"    // 5xx
	SendAuth      SendReason = "auth"      // token refused
	SendForbidden SendReason = "forbidden" // blocked, kicked, no right to write
	SendNotFound  SendReason = "not_found" // chat, topic or message is gone
	SendRefused   SendReason = "refused"   // any other permanent refusal
	SendMigrated  SendReason = "migrated"  // the chat has a new id
)

// Error is a failed send.
type Error struct {
	Reason     SendReason
	Retryable  bool
	Unknown    bool // the part may have been sent
	RetryAfter time.Duration
	// Remembered: the service was not called, because a delay that it requested earlier has not
	// passed.
	Remembered bool
	// NewChat is the chat's new id, set with SendMigrated.
	NewChat string
	Err     error
}

func (e *Error) Error() string { return fmt.Sprintf("send: %s: %v", e.Reason, e.Err) }

func (e *Error) Unwrap() error { return e.Err }
