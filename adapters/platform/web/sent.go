package web

import (
	"encoding/json"
	"net/http"
	"net/url"
	"path"
	"regexp"
	"strconv"
	"strings"

	"github.com/shipmyagent/shipmyagent/adapters/platform/web/internal/request"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/messages/uistream"
)

// sentFile is the data of such a part.
type sentFile struct {
	Name      string `json:"name"`
	MediaType string `json:"mediaType"`
	Bytes     int64  `json:"bytes"`
	URL       string `json:"url"`
}

// reader is the recipient of a response: the chat that it reads, and the address by which it
// reached the host.
type reader struct{ chat, base string }

func readerOfChat(r *http.Request, chat string) reader {
	scheme := "http://"
	if r.TLS != nil || r.Header.Get("X-Forwarded-Proto") == "https" {
		scheme = "https://"
	}
	return reader{chat: chat, base: scheme + r.Host}
}

// sentStored matches the URLs of files that the agent sent, relative to those of the chat's files.
var sentStored = regexp.MustCompile(`^sent-[0-9a-f]{32}/[^/?#]+$`)

// sent returns the files that a call gave to people, as its outcome names them. Anything that is
// not the URL of a sent file of this very chat is ignored, whatever tool returned it.
func (to reader) sent(call string, output json.RawMessage) []uimessage.Data {
	var out struct {
		Files []sentFile `json:"files"`
	}
	if to.chat == "" || json.Unmarshal(output, &out) != nil {
		return nil
	}
	var parts []uimessage.Data
	for i, f := range out.Files {
		stored, own := strings.CutPrefix(f.URL, request.FileURL(to.chat, ""))
		name, err := url.PathUnescape(path.Base(stored))
		if !own || err != nil || !sentStored.MatchString(stored) {
			continue
		}
		f.Name, f.URL, f.MediaType = filename(name), to.base+f.URL, mediaType(f.MediaType)
		raw, err := json.Marshal(f)
		if err != nil {
			continue // Unreachable: only strings and a number
		}
		parts = append(parts, uimessage.Data{Name: request.SentFilePart, ID: uimessage.Some(call + "-file-" + strconv.Itoa(i+1)), Data: raw})
	}
	return parts
}

// withSent adds the files that calls gave to people after the outcomes of the calls. If a client
// gets one again, it replaces the first.
func (to reader) withSent(list []uistream.Chunk) []uistream.Chunk {
	out := make([]uistream.Chunk, 0, len(list))
	for _, c := range list {
		out = append(out, c)
		done, ok := c.(uistream.ToolOutputAvailable)
		if !ok || done.Preliminary.Value {
			continue
		}
		for _, d := range to.sent(done.ToolCallID, done.Output) {
			out = append(out, uistream.Data{Name: d.Name, ID: d.ID, Data: d.Data})
		}
	}
	return out
}

// messagesWithSent does the same with complete messages: the files of a step come after it, as for
// a client that received the calls live.
func (to reader) messagesWithSent(list []uimessage.Message) []uimessage.Message {
	for i, m := range list {
		var parts, files []uimessage.Part
		for _, part := range m.Parts {
			if _, next := part.(uimessage.StepStart); next {
				parts, files = append(parts, files...), nil
			}
			parts = append(parts, part)
			if t, ok := part.(uimessage.Tool); ok && t.State == uimessage.ToolOutputAvailable && !t.Preliminary.Value {
				for _, d := range to.sent(t.ToolCallID, t.Output) {
					files = append(files, d)
				}
			}
		}
		parts = append(parts, files...)
		if len(parts) > len(m.Parts) {
			list[i].Parts = parts
		}
	}
	return list
}
