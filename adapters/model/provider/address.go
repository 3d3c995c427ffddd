package provider

import (
	"bufio"
	"bytes"
	"fmt"
	"mime"
	"net/http"
	"strings"

	"github.com/shipmyagent/shipmyagent/adapters/model"
)

// peekSize is how much of an answer is needed to distinguish a web page from a stream.
const peekSize = 512

// wrongAddress returns the failure of a URL where no model's API answers, with a sentence that says
// what to check.
func (e *Endpoint) wrongAddress(answered string) *model.Error {
	return &model.Error{
		Reason:  model.ReasonAddress,
		Message: fmt.Sprintf("The address %s answered with %s, not with a model's answer. Check %s; it usually ends in /v1.", e.BaseURL, answered, e.addressKey()),
	}
}

// unknownModel words the failure of a model that the service does not know.
func (e *Endpoint) unknownModel(words string) string {
	return strings.TrimSuffix(fmt.Sprintf("%s does not know the model %s: %s", e.BaseURL, e.Model, words), ": ")
}

func (e *Endpoint) addressKey() string {
	if e.AddressKey == "" {
		return "the base URL"
	}
	return e.AddressKey
}

// refused adds to the failure of an error response what is wrong with the settings, if they are the
// cause.
func (e *Endpoint) refused(failed *model.Error, header http.Header, body []byte) *model.Error {
	// A proxy writes a page for 502 and the like; a server of files answers every POST with 501.
	page := (failed.Status < http.StatusInternalServerError || failed.Status == http.StatusNotImplemented) && isPage(header, body)
	switch {
	case failed.Reason == model.ReasonNotFound && !page:
		failed.Message = e.unknownModel(failed.Message)
	case failed.Reason == model.ReasonAddress && failed.Status < http.StatusBadRequest:
		return withStatus(e.wrongAddress("a redirect to another place"), failed.Status)
	case page && failed.Reason != model.ReasonRate && failed.Reason != model.ReasonQuota && failed.Reason != model.ReasonAuth:
		return withStatus(e.wrongAddress("a web page"), failed.Status)
	case failed.Reason == model.ReasonAddress:
		return withStatus(e.wrongAddress(fmt.Sprintf("%q", failed.Message)), failed.Status)
	}
	return failed
}

func withStatus(e *model.Error, status int) *model.Error {
	e.Status = status
	return e
}

// isPage reports whether an answer is a web page.
func isPage(header http.Header, begin []byte) bool {
	kind, _, _ := mime.ParseMediaType(header.Get("Content-Type")) // a malformed type is not that of a page
	begin = bytes.ToLower(bytes.TrimSpace(bytes.TrimPrefix(begin, []byte("\xEF\xBB\xBF"))))
	return kind == "text/html" || kind == "application/xhtml+xml" || bytes.HasPrefix(begin, []byte("<!doctype html")) || bytes.HasPrefix(begin, []byte("<html"))
}

// checkAnswer checks the beginning of an answer that may not come from a model. Streams and JSON
// objects that declare their type are not checked here.
func (e *Endpoint) checkAnswer(resp *http.Response) error {
	kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type")) // a malformed type is checked
	if kind == "text/event-stream" || kind == "application/json" {
		return nil
	}
	if isPage(resp.Header, nil) {
		return e.wrongAddress("a web page")
	}
	r := bufio.NewReaderSize(resp.Body, peekSize)
	begin, err := r.Peek(1)
	if err == nil {
		begin, _ = r.Peek(r.Buffered()) // whatever is available
	}
	resp.Body = &readCloser{r, resp.Body}
	begin = bytes.TrimSpace(begin)
	switch {
	case isPage(resp.Header, begin):
		return e.wrongAddress("a web page")
	case kind == "text/plain" && len(begin) > 0 && !looksLikeEvents(begin):
		return e.wrongAddress("plain text")
	}
	return nil
}

// looksLikeEvents reports whether a text begins like a stream of events, or like an object.
func looksLikeEvents(begin []byte) bool {
	for _, field := range []string{"data:", "event:", "id:", "retry:", ":", "{"} {
		if bytes.HasPrefix(begin, []byte(field)) {
			return true
		}
	}
	return false
}
