package machine

import (
	"slices"
	"time"

	"github.com/shipmyagent/shipmyagent/actors/chat/notices"
	"github.com/shipmyagent/shipmyagent/adapters/model"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/messages/window"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
)

// notice returns what people read when a run ends without a complete answer, or empty. The message m is the run's own
// part of its message.
func (c *Chat) notice(result journal.Result, reason string, m uimessage.Message) string {
	var words notices.Text
	switch result {
	case journal.ResultFailed, journal.ResultInterrupted:
		words = notices.Failure(reason)
		if limit, ok := model.Reason(reason).Budget(); ok {
			words = notices.Exhausted(limit, windowEnd(limit, c.Now().In(c.Location)))
		}
	case journal.ResultDone:
		words = notices.NotWhole(reason, c.lastWords(m, result) != "")
		if words == (notices.Text{}) {
			words, c.cheaper = c.cheaper, words
		}
	case journal.ResultStopped, journal.ResultWaiting, journal.ResultRewound,
		journal.ResultSwitching, journal.ResultSwitched:
	}
	if words == (notices.Text{}) {
		return ""
	}
	if slices.Contains(notices.Endings(), reason) && notices.LeftCalls(m) {
		words[0] += " What it was about to do has not been done."
		words[1] += "它准备执行的操作没有执行。"
	}
	return c.InTheirWords(words)
}

// windowEnd is when the window of a spending limit ends, or empty for a limit without one.
func windowEnd(limit string, now time.Time) string {
	w, ok := window.Of(limit)
	if !ok {
		return ""
	}
	return w.End(now).Format("2006-01-02 15:04 -07:00")
}
