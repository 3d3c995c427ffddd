package cli

import (
	"encoding/json"
	"net/url"
	"path/filepath"
	"strings"

	"github.com/shipmyagent/shipmyagent/adapters/tool"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
)

// spokenAt returns the location of a voice message that a tool has made, or an empty string.
func spokenAt(output json.RawMessage) string {
	var out struct {
		Audio struct {
			URL string `json:"url"`
		} `json:"audio"`
	}
	if json.Unmarshal(output, &out) != nil || !strings.HasPrefix(out.Audio.URL, "file:///") {
		return ""
	}
	return Clean(out.Audio.URL)
}

// SentFile is a file that the agent gave to the people of a chat, on this machine.
type SentFile struct {
	Name      string `json:"name"`
	MediaType string `json:"mediaType"`
	Bytes     int64  `json:"bytes"`
	Path      string `json:"path"`
}

// sentFiles returns the files that a call gave to people.
func sentFiles(name string, output json.RawMessage) []SentFile {
	var out struct {
		Files []struct {
			SentFile

			URL string `json:"url"`
		} `json:"files"`
	}
	if name != "chat_send" && name != "chat_send_file" || json.Unmarshal(output, &out) != nil {
		return nil
	}
	var list []SentFile
	for _, f := range out.Files {
		u, err := url.Parse(f.URL)
		if err != nil || u.Scheme != "file" || u.Host != "" || !strings.HasPrefix(u.Path, "/") {
			continue
		}
		f.Path = filepath.FromSlash(u.Path)
		list = append(list, f.SentFile)
	}
	return list
}

// SentFiles returns the files that a message gave to people.
func SentFiles(m uimessage.Message) []SentFile {
	var list []SentFile
	for _, part := range m.Parts {
		if t, ok := part.(uimessage.Tool); ok && t.State == uimessage.ToolOutputAvailable {
			list = append(list, sentFiles(t.Name, t.Output)...)
		}
	}
	return list
}

// Line returns a line about the file for people.
func (f SentFile) Line(inChinese bool) string {
	return Clean(f.Name) + ", " + tool.Size(f.Bytes, inChinese) + ": " + Clean(f.Path)
}
