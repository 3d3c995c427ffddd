package adapter

import (
	"strconv"
	"testing"
	"time"

	"github.com/shipmyagent/shipmyagent/messages"
)

func show(message string, m messages.Mark) messages.ShowMark {
	return messages.ShowMark{ChatKey: "telegram-chat-1", MessageID: message, Mark: m}
}

func nowhere(messages.ChatKey) bool { return false }

func drainMarks(m *marks, now time.Time, held func(messages.ChatKey) bool) []messages.ShowMark {
	var out []messages.ShowMark
	for {
		msg, ok := m.take(now, held)
		if !ok {
			return out
		}
		out = append(out, msg)
	}
}

// The newest mark of a message counts; a mark that was never shown is not removed.
func TestMarksKeepTheNewest(t *testing.T) {
	now := time.Now()
	var m marks
	m.want(show("1", messages.MarkSeen), now)
	m.want(show("2", messages.MarkSeen), now)
	m.want(show("1", messages.MarkMerged), now)
	m.want(show("2", messages.MarkNone), now) // its first mark was not shown yet
	m.want(show("3", messages.MarkNone), now) // from before a restart
	got := drainMarks(&m, now, nowhere)
	if len(got) != 2 || got[0] != show("1", messages.MarkMerged) || got[1] != show("3", messages.MarkNone) {
		t.Errorf("got %+v", got)
	}
}

// Too many marks replace the oldest, and a late mark is not shown.
func TestMarksAreBounded(t *testing.T) {
	now := time.Now()
	var m marks
	for i := range maxMarks + 10 {
		m.want(show(strconv.Itoa(i), messages.MarkSeen), now)
	}
	if len(m.queue) != maxMarks || m.queue[0].of.MessageID != "10" {
		t.Errorf("%d wait, the first is %+v", len(m.queue), m.queue[0])
	}
	if got := drainMarks(&m, now.Add(markAge+time.Second), nowhere); len(got) != 0 {
		t.Errorf("%d late marks are shown", len(got))
	}
	m.want(show("1", messages.MarkNone), now)
	if got := drainMarks(&m, now.Add(time.Hour), nowhere); len(got) != 1 {
		t.Error("a mark that people see stays for ever")
	}
	m.want(show("1", messages.MarkSeen), now)
	if got := drainMarks(&m, now, func(messages.ChatKey) bool { return true }); len(got) != 0 {
		t.Error("a chat that the service holds gets a mark")
	}
}
