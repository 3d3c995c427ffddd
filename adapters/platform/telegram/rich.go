package telegram

import (
	"errors"
	"net/http"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
)

// richMessage is the content of a rich message. It is HTML that we rendered, not Markdown from a
// model, in which the server would interpret picture URLs, mentions and buttons. Automatic mentions
// are disabled, too.
type richMessage struct {
	HTML         string `json:"html"`
	SkipEntities bool   `json:"skip_entity_detection"`
}

// richMethod returns the method that sends a rich message instead of a text.
func richMethod(method string) string {
	if method == "sendMessage" {
		return "sendRichMessage"
	}
	return method
}

// rich returns the parameters with a rich message instead of the text.
func (o outgoing) rich(method, html string) outgoing {
	o.Rich = &richMessage{HTML: html, SkipEntities: true}
	if method == "sendMessage" {
		o.LinkPreview = nil // rich messages have neither previews nor a parameter for them
	}
	return o
}

// richRefused reports that the server refused the rich message as such and sent nothing, so that
// the text should be sent normally. Refusals because of the chat, a rate or a server failure would
// apply to the text as well. After a call without a response the outcome is unknown, and nothing
// else may be sent.
func (p *Platform) richRefused(method string, err error) bool {
	e, ok := errors.AsType[*apiError](err)
	switch {
	case !ok, isUnchanged(err), e.MigrateTo != 0:
		return false
	case e.Code == http.StatusNotFound, method != "sendMessage" && says(e, "text is empty", "text must be non-empty"):
		// An older server ignores the rich message of an edit and reports a missing text.
		if !p.noRich.Swap(true) {
			p.log.Info("the server does not support rich messages; from now on texts are sent without them", "error", err)
		}
		return true
	case e.Code != http.StatusBadRequest, refusal(e).Reason == platform.SendNotFound:
		return false
	}
	p.metrics.notRich.Inc()
	p.log.Warn("the service refused a rich message; the text was sent as an ordinary one", "method", method, "error", err)
	return true
}
