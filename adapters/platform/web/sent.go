package web

import (
	"encoding/json"
	"net/http"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/messages/uistream"
)

// sentFilePart is the name of the data parts that stand for files which the agent gave to
// people. Clients of the AI SDK get one behind the call; models never read them.
const sentFilePart = "sent-file"

// sentFile is the data of such a part.
type sentFile struct {
	Name      string `json:"name"`
	MediaType string `json:"mediaType"`
	Bytes     int64  `json:"bytes"`
	URL       string `json:"url"`
}

// reader is the client that a response goes to: the chat that it reads, and the address
// by which it reached the host.
type reader struct{ chat, base string }

func readerOfChat(r *http.Request, chat string) reader {
	scheme := "http://"
	if r.TLS != nil || r.Header.Get("X-Forwarded-Proto") == "https" {
		scheme = "https://"
	}
	return reader{chat: chat, base: scheme + r.Host}
}

// sentStored are the addresses of files that the agent sent, below those of the chat's files.
var sentStored = regexp.MustCompile(`^sent-[0-9a-f]{32}/[^/?#]+$`)

// sent are the files that people were given by a call, as its outcome names them. What is
// no address of a sent file of this very chat is none, whatever tool says so.
func (to reader) sent(call string, output json.RawMessage) []uimessage.Data {
	var out struct {
		Files []sentFile `json:"files"`
	}
	if to.chat == "" || json.Unmarshal(output, &out) != nil {
		return nil
	}
	var parts []uimessage.Data
	for i, f := range out.Files {
		stored, own := strings.CutPrefix(f.URL, fileURL(to.chat, ""))
		name, err := url.PathUnescape(path.Base(stored))
		if !own || err != nil || !sentStored.MatchString(stored) {
			continue
		}
		f.Name, f.URL, f.MediaType = filename(name), to.base+f.URL, mediaType(f.MediaType)
		raw, err := json.Marshal(f)
		if err != nil {
			continue // Unreachable: strings and a number
		}
		parts = append(parts, uimessage.Data{Name: sentFilePart, ID: uimessage.Some(call + "-file-" + strconv.Itoa(i+1)), Data: raw})
	}
	return parts
}

// withSent puts the files that calls gave to people behind the outcomes of the calls. A
// client that gets one again puts it in the place of the first.
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

// messagesWithSent does the same with whole messages: the files of a step are behind it,
// as a client has them that saw its calls come.
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

// withoutSent is a client's message as the history has it.
func withoutSent(m uimessage.Message) uimessage.Message {
	m.Parts = slices.DeleteFunc(slices.Clone(m.Parts), func(p uimessage.Part) bool {
		d, ok := p.(uimessage.Data)
		return ok && d.Name == sentFilePart && m.Role == uimessage.RoleAssistant
	})
	return m
}
