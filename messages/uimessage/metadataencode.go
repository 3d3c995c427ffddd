package uimessage

import (
	"encoding/json"

	"github.com/shipmyagent/shipmyagent/messages/internal/rawjson"
)

// Append appends the metadata as a JSON object. Members stand in a fixed order,
// unknown ones behind them, and `seq` is the very last, so that a store can add a
// checksum behind it.
func (m Metadata) Append(dst []byte) []byte {
	w := writer{rawjson.Writer{Buf: append(dst, '{')}}
	w.NonZero("ts", m.TS)
	w.NonEmpty("chatKey", m.ChatKey)
	w.NonEmpty("channel", m.Channel)
	w.NonEmpty("chatId", m.ChatID)
	w.NonEmpty("chatType", m.ChatType)
	w.NonEmpty("chatTitle", m.ChatTitle)
	w.NonEmpty("userId", m.UserID)
	w.NonEmpty("username", m.Username)
	w.NonEmpty("messageId", m.MessageID)
	w.NonEmpty("messageThreadId", m.MessageThreadID)
	w.NonEmpty("replyTo", m.ReplyTo)
	w.NonEmpty("requestId", m.RequestID)
	w.NonEmpty("runId", m.RunID)
	w.NonEmpty("kind", string(m.Kind))
	w.NonEmpty("source", string(m.Source))
	w.sourceRange(m.SourceRange)
	w.NonZero("tokens", m.Tokens)
	w.NonEmpty("ingressId", m.IngressID)
	w.NonEmpty("editOf", m.EditOf)
	w.NonEmpty("album", m.Album)
	w.NonZero("depth", m.Depth)
	w.NonEmpty("model", m.Model)
	if m.Demo {
		w.Flag("demo", Some(true))
	}
	w.NonEmpty("result", m.Result)
	w.NonEmpty("reason", m.Reason)
	w.fates(m.Fates)
	w.usage(m.Usage)
	w.Members(m.Extra)
	w.NonZero("seq", m.Seq)
	return append(w.Buf, '}')
}

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

func (w *writer) sourceRange(s *SourceRange) {
	if s == nil {
		return
	}
	w.Key("sourceRange")
	w.Buf = append(w.Buf, '{')
	w.Str("fromId", s.FromID)
	w.Str("toId", s.ToID)
	w.Int("count", s.Count)
	w.Buf = append(w.Buf, '}')
}

func (w *writer) fates(list []FateRecord) {
	if len(list) == 0 {
		return
	}
	w.Key("fates")
	w.Buf = append(w.Buf, '[')
	for i, f := range list {
		if i > 0 {
			w.Buf = append(w.Buf, ',')
		}
		w.Buf = append(w.Buf, '{')
		w.Str("id", f.ID)
		w.Str("fate", string(f.Fate))
		w.NonEmpty("runId", f.RunID)
		w.NonZero("step", f.Step)
		w.NonEmpty("reason", f.Reason)
		w.Buf = append(w.Buf, '}')
	}
	w.Buf = append(w.Buf, ']')
}

func (w *writer) usage(u *Usage) {
	if u == nil {
		return
	}
	w.Key("usage")
	w.Buf = append(w.Buf, '{')
	w.Int("inputTokens", u.InputTokens)
	w.Int("outputTokens", u.OutputTokens)
	w.NonZero("totalTokens", u.TotalTokens)
	w.NonZero("reasoningTokens", u.ReasoningTokens)
	w.NonZero("cachedInputTokens", u.CachedInputTokens)
	w.Members(u.Extra)
	w.Buf = append(w.Buf, '}')
}
