package telegram

import (
	"errors"
	"net/http"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
)

// richMessage is the content of a rich message. It is given as HTML that we made and
// not as Markdown as a model wrote it, in which the server reads pictures by
// address, mentions and buttons. Nothing in the text becomes a mention by itself either.
type richMessage struct {
	HTML         string `json:"html"`
	SkipEntities bool   `json:"skip_entity_detection"`
}

// richMethod is the method that takes a rich message in the place of a text.
func richMethod(method string) string {
	if method == "sendMessage" {
		return "sendRichMessage"
	}
	return method
}

// rich are the parameters with a rich message in the place of a text.
func (o outgoing) rich(method, html string) outgoing {
	o.Rich = &richMessage{HTML: html, SkipEntities: true}
	if method == "sendMessage" {
		o.LinkPreview = nil // rich messages have none, and no parameter for them
	}
	return o
}

// richRefused tells that a rich message was refused as such, so that the text is to be
// sent as usual: nothing was sent. What the server says of the chat, of a rate or of
// itself would be the same for the text; what became of a call without an answer is
// not known, and then nothing else may be sent.
func (p *Platform) richRefused(method string, err error) bool {
	e, ok := errors.AsType[*apiError](err)
	switch {
	case !ok, isUnchanged(err), e.MigrateTo != 0:
		return false
	case e.Code == http.StatusNotFound, method != "sendMessage" && says(e, "text is empty", "text must be non-empty"):
		// An older server overlooks the rich message of an edit and misses the text.
		if !p.noRich.Swap(true) {
			p.log.Info("the server knows no rich messages; texts are sent as usual from now on", "error", err)
		}
		return true
	case e.Code != http.StatusBadRequest, refusal(e).Reason == platform.SendNotFound:
		return false
	}
	p.metrics.notRich.Inc()
	p.log.Warn("rich message refused, sent as usual", "method", method, "error", err)
	return true
}
