package prompt

import (
	"cmp"
	"encoding/json"
	"strconv"
	"time"

	"github.com/shipmyagent/shipmyagent/messages/uimessage"
)

// Header is the first part of a user turn: one line of JSON that says when it was sent and which
// message it is, and in groups who sent it. It depends on the turn's metadata alone, so that it is
// the same in every later request. A turn made by the host is marked as such. It is empty for a
// turn without known facts.
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
		member("edits", meta.EditOf) // the turn with that id is further up, unedited
	}
	if meta.Forwarded() {
		member("forwarded", "these are somebody else's words")
	}
	if len(answeredMessage(meta)) > 0 {
		member("answers", cmp.Or(meta.ReplyTo, "?")) // the next part contains it
	}
	if n := len(quotedMessages(meta)); n > 0 {
		member("quoted", strconv.Itoa(n)) // the next part contains them
	}
	if b == nil {
		return ""
	}
	return string(append(b, '}'))
}

// answeredMessage is the message that a turn replies to, according to its metadata; damaged
// metadata counts as no reply.
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

// quotedMessages are the messages that a turn's metadata quotes; damaged ones are left out.
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
