package uimessage

import (
	"encoding/json"

	"github.com/shipmyagent/shipmyagent/messages/internal/rawjson"
)

// TurnKind tells an ordinary turn from one that stands for others.
type TurnKind string

// The kinds of turns.
const (
	KindNormal  TurnKind = "normal"
	KindSummary TurnKind = "summary" // of folded ones
	KindGap     TurnKind = "gap"     // what was here could not be read and was set aside
)

// Source says where a turn comes from.
type Source string

// The sources of turns.
const (
	SourceIngress Source = "ingress"
	SourceEgress  Source = "egress"
	SourceCompact Source = "compact"
	SourceTask    Source = "task"
	SourceWeb     Source = "web"
	// SourceContact: the bot was asked in another chat to say it.
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
	FateExpired  Fate = "expired"
)

// Metadata is the metadata of our own turns. Zero values are absent from the JSON.
type Metadata struct {
	// TS is the time of the turn in Unix milliseconds.
	TS              int64
	ChatKey         string
	Channel         string
	ChatID          string
	ChatType        string
	ChatTitle       string
	UserID          string
	Username        string
	MessageID       string
	MessageThreadID string
	ReplyTo         string
	RequestID       string
	RunID           string
	Kind            TurnKind
	Source          Source
	// SourceRange is set on a summary: the turns it stands for.
	SourceRange *SourceRange
	Tokens      int64
	IngressID   string
	// EditOf is the ingress that this turn is an edit of.
	EditOf string
	// Album is the platform's id of the group of files that a turn came in.
	Album string
	// Depth counts the bots behind a user turn, one answering the other; 0: a person
	// wrote it.
	Depth int64
	Model string
	Demo  bool
	// Result and Reason say how the run of an assistant turn ended.
	Result string
	Reason string
	// Fates are the ingresses that an assistant turn settles.
	Fates []FateRecord
	Usage *Usage
	// Extra holds the members this package does not know, in their order.
	Extra []Member
	// Seq is the arrival number of the turn in its chat, counted from 1.
	Seq int64
}

// SourceRange names the original turns that a summary stands for.
type SourceRange struct {
	FromID string
	ToID   string
	Count  int64
}

// FateRecord is the fate of one ingress. Step is the step from which on a merged
// turn was visible to the model.
type FateRecord struct {
	ID     string
	Fate   Fate
	RunID  string
	Step   int64
	Reason string
}

// Usage counts the tokens of a run.
type Usage struct {
	InputTokens       int64
	OutputTokens      int64
	TotalTokens       int64
	ReasoningTokens   int64
	CachedInputTokens int64
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
	switch rawjson.KindOf(raw) {
	case rawjson.Null:
		return m, nil
	case rawjson.Object:
	default:
		return m, &DecodeError{Path: "metadata", Reason: "want an object"}
	}
	var first error
	for k, v := range rawjson.Members(raw) {
		r := reader{rawjson.Reader{Path: "metadata"}}
		if !r.metadataText(&m, k, v) && !r.metadataValue(&m, k, v) {
			rawjson.Extra(&m.Extra, k, v)
		}
		if r.Err != nil {
			rawjson.Extra(&m.Extra, k, v)
			if first == nil {
				first = r.Err
			}
		}
	}
	return m, first
}

// textField returns the place of a textual member, or nil.
func (m *Metadata) textField(name string) *string {
	switch name {
	case "chatKey":
		return &m.ChatKey
	case "channel":
		return &m.Channel
	case "chatId":
		return &m.ChatID
	case "chatType":
		return &m.ChatType
	case "chatTitle":
		return &m.ChatTitle
	case "userId":
		return &m.UserID
	case "username":
		return &m.Username
	case "messageId":
		return &m.MessageID
	case "messageThreadId":
		return &m.MessageThreadID
	case "replyTo":
		return &m.ReplyTo
	case "requestId":
		return &m.RequestID
	case "runId":
		return &m.RunID
	case "kind":
		return (*string)(&m.Kind)
	case "source":
		return (*string)(&m.Source)
	case "ingressId":
		return &m.IngressID
	case "editOf":
		return &m.EditOf
	case "album":
		return &m.Album
	case "model":
		return &m.Model
	case "result":
		return &m.Result
	case "reason":
		return &m.Reason
	default:
		return nil
	}
}

func (r *reader) metadataText(m *Metadata, k, v []byte) bool {
	field := m.textField(string(k))
	if field == nil {
		return false
	}
	if text, ok := text(v); ok {
		*field = text
	} else {
		r.Fail(string(k), "want a string")
	}
	return true
}

// text reads a string. Words that most turns have are not allocated for each.
func text(v []byte) (string, bool) {
	switch string(v) {
	case `"normal"`:
		return string(KindNormal), true
	case `"ingress"`:
		return string(SourceIngress), true
	case `"egress"`:
		return string(SourceEgress), true
	case `"answered"`:
		return string(FateAnswered), true
	case `"done"`:
		return "done", true
	case `"private"`:
		return "private", true
	case `"group"`:
		return "group", true
	case `"supergroup"`:
		return "supergroup", true
	case `"telegram"`:
		return "telegram", true
	case `"feishu"`:
		return "feishu", true
	}
	return rawjson.Unquote(v)
}

func (r *reader) metadataValue(m *Metadata, k, v []byte) bool {
	switch string(k) {
	case "ts":
		r.Int("ts", v, &m.TS)
	case "seq":
		r.Int("seq", v, &m.Seq)
	case "tokens":
		r.Int("tokens", v, &m.Tokens)
	case "depth":
		r.Int("depth", v, &m.Depth)
	case "demo":
		var demo Optional[bool]
		if r.Flag(&m.Extra, k, v, &demo); r.Err == nil {
			m.Demo = demo.Value
		}
	case "sourceRange":
		m.SourceRange = r.sourceRange(v)
	case "fates":
		m.Fates = r.fates(v)
	case "usage":
		m.Usage = r.usage(v)
	default:
		return false
	}
	return true
}

func (r *reader) sourceRange(v []byte) *SourceRange {
	if rawjson.KindOf(v) != rawjson.Object {
		r.Fail("sourceRange", "want an object")
		return nil
	}
	var at reader
	var s SourceRange
	for k, v := range rawjson.Members(v) {
		switch string(k) {
		case "fromId":
			at.Str("fromId", v, &s.FromID)
		case "toId":
			at.Str("toId", v, &s.ToID)
		case "count":
			at.Int("count", v, &s.Count)
		default:
			at.Fail(string(k), "is not known")
		}
	}
	if at.Err != nil {
		r.Err = rawjson.Within(rawjson.Join(r.Path, "sourceRange"), at.Err)
		return nil
	}
	return &s
}

func (r *reader) fates(v []byte) []FateRecord {
	if rawjson.KindOf(v) != rawjson.Array {
		r.Fail("fates", "want an array")
		return nil
	}
	var list []FateRecord
	for i, e := range rawjson.Elements(v) {
		var at reader
		f := at.fate(e)
		if at.Err != nil {
			r.Err = rawjson.Within(rawjson.Join(r.Path, rawjson.Index("fates", i)), at.Err)
			return nil
		}
		list = append(list, f)
	}
	return list
}

func (r *reader) fate(v []byte) FateRecord {
	var f FateRecord
	if rawjson.KindOf(v) != rawjson.Object {
		r.Err = &DecodeError{Reason: "want an object"}
		return f
	}
	for k, v := range rawjson.Members(v) {
		switch string(k) {
		case "id":
			r.Str("id", v, &f.ID)
		case "fate":
			word, ok := text(v)
			if f.Fate = Fate(word); !ok {
				r.Fail("fate", "want a string")
			}
		case "runId":
			r.Str("runId", v, &f.RunID)
		case "step":
			r.Int("step", v, &f.Step)
		case "reason":
			r.Str("reason", v, &f.Reason)
		default:
			r.Fail(string(k), "is not known")
		}
	}
	return f
}

func (r *reader) usage(v []byte) *Usage {
	if rawjson.KindOf(v) != rawjson.Object {
		r.Fail("usage", "want an object")
		return nil
	}
	var at reader
	var u Usage
	for k, v := range rawjson.Members(v) {
		switch string(k) {
		case "inputTokens":
			at.Int("inputTokens", v, &u.InputTokens)
		case "outputTokens":
			at.Int("outputTokens", v, &u.OutputTokens)
		case "totalTokens":
			at.Int("totalTokens", v, &u.TotalTokens)
		case "reasoningTokens":
			at.Int("reasoningTokens", v, &u.ReasoningTokens)
		case "cachedInputTokens":
			at.Int("cachedInputTokens", v, &u.CachedInputTokens)
		default:
			rawjson.Extra(&u.Extra, k, v)
		}
	}
	if at.Err != nil {
		r.Err = rawjson.Within(rawjson.Join(r.Path, "usage"), at.Err)
		return nil
	}
	return &u
}
