package prompt

import (
	"cmp"
	"encoding/json"
	"strconv"
	"time"

	"github.com/shipmyagent/shipmyagent/messages/uimessage"
)

// Header is the first part of a user turn: one line of JSON that says when it
// was sent and which message it is, and in groups who sent it. It depends on the
// turn's metadata alone, so that it reads the same in every later request. It says
// so of a turn that the host made and nobody sent. It is empty for a turn of which
// nothing is known.
func Header(meta uimessage.Metadata, group bool, loc *time.Location) string {
	var b []byte
	member := func(name, value string) {
		if value == "" {
			return
		}
		sep := byte(',')
		if b == nil {
			sep = '{'
		}
		b = append(b, sep, '"')
		b = append(b, name...)
		b = append(b, '"', ':')
		b = append(b, quote(value)...)
	}
	if meta.TS != 0 {
		if loc == nil {
			loc = time.UTC
		}
		member("t", time.UnixMilli(meta.TS).In(loc).Format("2006-01-02T15:04:05-07:00"))
	}
	if meta.Source == uimessage.SourceTask {
		member("by", "host")
	}
	if group {
		member("from", meta.Username)
		member("user", meta.UserID)
	}
	member("msg", meta.MessageID)
	if meta.EditOf != "" && meta.IngressID != meta.MessageID {
		member("edits", meta.EditOf) // the turn of that id, as it was, is further up
	}
	if len(answeredMessage(meta)) > 0 {
		member("answers", cmp.Or(meta.ReplyTo, "?")) // the part that follows holds it
	}
	if n := len(quotedMessages(meta)); n > 0 {
		member("quoted", strconv.Itoa(n)) // the part that follows holds them
	}
	if b == nil {
		return ""
	}
	return string(append(b, '}'))
}

// answeredMessage is the message that a turn's metadata says it answers. One that is
// damaged is none.
func answeredMessage(meta uimessage.Metadata) []uimessage.Quoted {
	for _, m := range meta.Extra {
		if m.Name != uimessage.AnsweredMember {
			continue
		}
		var q uimessage.Quoted
		if json.Unmarshal(m.Value, &q) == nil && q.Text != "" {
			return []uimessage.Quoted{q}
		}
	}
	return nil
}

// quotedMessages are the messages that a turn's metadata quotes. Damaged ones are none.
func quotedMessages(meta uimessage.Metadata) []uimessage.Quoted {
	for _, m := range meta.Extra {
		if m.Name != uimessage.QuotedMember {
			continue
		}
		var list []uimessage.Quoted
		if json.Unmarshal(m.Value, &list) == nil {
			return list
		}
	}
	return nil
}
