package machine

import (
	"slices"

	"github.com/shipmyagent/shipmyagent/actors/chat/notices"
	"github.com/shipmyagent/shipmyagent/adapters/model"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
)

// notice returns what people read when a run ends without a complete answer, or empty. The message m is the run's own
// part of its message.
func (c *Chat) notice(result journal.Result, reason string, m uimessage.Message) string {
	var words notices.Text
	switch result {
	case journal.ResultFailed, journal.ResultInterrupted:
		words = notices.Failure(reason, c.At())
		if limit, ok := model.Reason(reason).Budget(); ok {
			words = notices.Exhausted(limit, notices.Until(limit, c.Now().In(c.Location)), model.Reason(reason).OwnerAsked())
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
	return c.Localized(words)
}
