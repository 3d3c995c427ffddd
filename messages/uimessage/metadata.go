package uimessage

import (
	"encoding/json"

	"github.com/shipmyagent/shipmyagent/messages/internal/rawjson"
)

// TurnKind distinguishes an ordinary turn from one that replaces others.
type TurnKind string

// The kinds of turns.
const (
	KindNormal  TurnKind = "normal"
	KindSummary TurnKind = "summary" // replaces compacted turns
	KindGap     TurnKind = "gap"     // replaces turns that could not be read and are quarantined
)

// Source is the origin of a turn.
type Source string

// The sources of turns.
const (
	SourceIngress Source = "ingress"
	SourceEgress  Source = "egress"
	SourceCompact Source = "compact"
	SourceTask    Source = "task"
	// SourceContact is a message that the bot was asked in another chat to send.
	SourceContact Source = "contact"
)

// Fate is how an ingress ended. Every accepted ingress ends in exactly one.
type Fate string

// The fates of an ingress.
const (
	FateAnswered Fate = "answered"
	FateMerged   Fate = "merged"
	FateIgnored  Fate = "ignored"
	FateDeclined Fate = "declined"
	FateStopped  Fate = "stopped"
)

// Metadata is the metadata of our own turns. Zero values are absent from the JSON.
// Its members have a fixed order in which unknown ones follow the known ones, and `seq`
// is the very last, so that a store can add a checksum after it.
//
//codec:object tolerant
type Metadata struct {
	// TS is the time of the turn in Unix milliseconds.
	TS              int64    `codec:"ts,omitempty"`
	ChatKey         string   `codec:"chatKey,omitempty"`
	Channel         string   `codec:"channel,omitempty,word"`
	ChatID          string   `codec:"chatId,omitempty"`
	ChatType        string   `codec:"chatType,omitempty,word"`
	ChatTitle       string   `codec:"chatTitle,omitempty"`
	UserID          string   `codec:"userId,omitempty"`
	Username        string   `codec:"username,omitempty"`
	MessageID       string   `codec:"messageId,omitempty"`
	MessageThreadID string   `codec:"messageThreadId,omitempty"`
	ReplyTo         string   `codec:"replyTo,omitempty"`
	RequestID       string   `codec:"requestId,omitempty"`
	RunID           string   `codec:"runId,omitempty"`
	Kind            TurnKind `codec:"kind,omitempty,word"`
	Source          Source   `codec:"source,omitempty,word"`
	// SourceRange is set on a summary: the turns that it replaces.
	SourceRange *SourceRange `codec:"sourceRange"`
	Tokens      int64        `codec:"tokens,omitempty"`
	IngressID   string       `codec:"ingressId,omitempty"`
	// EditOf is the ingress that this turn is an edit of.
	EditOf string `codec:"editOf,omitempty"`
	// Album is the platform's id of the group of files that a turn belongs to.
	Album string `codec:"album,omitempty"`
	// Depth is the number of bots in a chain of answers that led to a user turn; it is 0
	// if a person wrote it.
	Depth int64  `codec:"depth,omitempty"`
	Model string `codec:"model,omitempty"`
	Demo  bool   `codec:"demo,omitempty"`
	// Result and Reason say how the run of an assistant turn ended.
	Result string `codec:"result,omitempty,word"`
	Reason string `codec:"reason,omitempty"`
	// Fates are the ingresses that an assistant turn settles.
	Fates []FateRecord `codec:"fates"`
	Usage *Usage       `codec:"usage"`
	// Extra holds the members this package does not know, in their order.
	Extra []Member
	// Seq is the arrival number of the turn in its chat, counted from 1.
	Seq int64 `codec:"seq,omitempty"`
}

// SourceRange names the original turns that a summary replaces.
//
//codec:object
type SourceRange struct {
	FromID string `codec:"fromId"`
	ToID   string `codec:"toId"`
	Count  int64  `codec:"count"`
}

// FateRecord is the fate of one ingress. Step is the first step in which a merged
// turn was visible to the model.
//
//codec:object
type FateRecord struct {
	ID     string `codec:"id"`
	Fate   Fate   `codec:"fate,word"`
	RunID  string `codec:"runId,omitempty"`
	Step   int64  `codec:"step,omitempty"`
	Reason string `codec:"reason,omitempty"`
}

// Usage counts the tokens of a run.
//
//codec:object
type Usage struct {
	InputTokens       int64 `codec:"inputTokens"`
	OutputTokens      int64 `codec:"outputTokens"`
	TotalTokens       int64 `codec:"totalTokens,omitempty"`
	ReasoningTokens   int64 `codec:"reasoningTokens,omitempty"`
	CachedInputTokens int64 `codec:"cachedInputTokens,omitempty"`
	Extra             []Member
}

// DecodeMetadata reads the metadata of a turn; absent and null give the zero
// value. A known member of another type than ours is a *DecodeError; the result
// then holds everything else, and that member in Extra.
func DecodeMetadata(raw json.RawMessage) (Metadata, error) {
	var m Metadata
	if len(raw) == 0 {
		return m, nil
	}
	if err := rawjson.Check(raw); err != nil {
		return m, &DecodeError{Path: "metadata", Reason: err.Error()}
	}
	if rawjson.KindOf(raw) == rawjson.Null {
		return m, nil
	}
	r := rawjson.Reader{Path: "metadata"}
	m.read(&r, raw)
	return m, r.Err
}

// Append appends the metadata as a JSON object.
func (m Metadata) Append(dst []byte) []byte { return m.append(dst) }

// Raw returns the metadata as the raw value that a Message carries.
func (m Metadata) Raw() json.RawMessage { return m.Append(make([]byte, 0, 256)) }

// MarshalJSON implements json.Marshaler with the bytes of Append.
func (m Metadata) MarshalJSON() ([]byte, error) { return m.Append(nil), nil }

// UnmarshalJSON implements json.Unmarshaler, under the rules of DecodeMetadata.
func (m *Metadata) UnmarshalJSON(data []byte) error {
	decoded, err := DecodeMetadata(data)
	if err != nil {
		return err
	}
	*m = decoded
	return nil
}

// word reads a string without allocating the words that most turns contain.
func word(r *rawjson.Reader, name string, v []byte, to *string) {
	for _, known := range [...]string{
		string(KindNormal), string(SourceIngress), string(SourceEgress), string(FateAnswered), "done", "private", "group", "supergroup", "telegram", "feishu",
	} {
		if len(v) == len(known)+2 && v[0] == '"' && string(v[1:len(v)-1]) == known {
			*to = known
			return
		}
	}
	r.Str(name, v, to)
}
