package chat

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/shipmyagent/shipmyagent/adapters/tool"
	"github.com/shipmyagent/shipmyagent/messages"
)

// SendFileName is the name of the tool that sends a file.
const SendFileName = "chat_send_file"

// SendFile is the tool chat_send_file, for chats in which the text is the answer. It sends one file, with the same
// checks as chat_send.
type SendFile struct {
	*Send
	tool.Described
}

// NewSendFile makes the tool. A repeated call does not send the file again.
func NewSendFile(o Options) *SendFile {
	return &SendFile{NewSend(o), tool.DescribedBy(docs, "file", &tool.Spec{Name: SendFileName, Title: "Send file", Repeatable: true})}
}

// Invoke implements [tool.Tool].
func (s *SendFile) Invoke(ctx context.Context, call tool.Call) (tool.Result, error) {
	list, err := attachmentsOf(call.Input)
	if err == nil && len(list) == 0 {
		err = fmt.Errorf("%w: /path names no file", tool.ErrInput)
	}
	if err != nil {
		return tool.Result{}, err
	}
	refs, err := s.files(call, list)
	if err != nil {
		return tool.Result{}, err
	}
	d, err := call.Egress.Send(ctx, call.ID, tool.Outgoing{Files: refs})
	if err != nil {
		return tool.Result{}, fmt.Errorf("send: %w", err)
	}
	a := report(d)
	a.Files = s.found(call, d, refs)
	return a.result(list[0].Path)
}

// sentFile is a file that people access by a link.
type sentFile struct {
	Name      string `json:"name"`
	MediaType string `json:"mediaType"`
	Bytes     int64  `json:"bytes"`
	URL       string `json:"url"`
}

// found are the files of a message that people access by a link. It is empty if the message was not sent, or if the
// platform delivers files itself.
func (s *Send) found(call tool.Call, d tool.Delivery, refs []messages.FileRef) []sentFile {
	if s.opts.Link == nil || !said(d) {
		return nil
	}
	var out []sentFile
	for _, ref := range refs {
		rel, err := filepath.Rel(s.opts.Files.Root, ref.Path)
		if ref.Path == "" || err != nil || !filepath.IsLocal(rel) {
			continue
		}
		link := s.opts.Link(call.Run.ChatKey, filepath.ToSlash(rel))
		info, err := os.Stat(ref.Path)
		if link == "" || err != nil {
			continue
		}
		name := filepath.Base(ref.Path)
		out = append(out, sentFile{Name: name, MediaType: mediaType(name), Bytes: info.Size(), URL: link})
	}
	return out
}

// linked reports whether people of a chat access files by a link.
func (s *Send) linked(key messages.ChatKey) bool {
	return s.opts.Link != nil && s.opts.Link(key, "") != ""
}

// own is the path to send for a file of the chat's own folder. If people access it by a link, that is a copy, which
// does not change later.
func (s *Send) own(key messages.ChatKey, whole string) (string, error) {
	if !s.linked(key) {
		return whole, nil
	}
	f, err := os.Open(whole)
	if err != nil {
		return "", errors.New("the file cannot be read")
	}
	defer func() { _ = f.Close() }() // opened for reading only
	temp, sum, size, err := s.temp(key, f)
	defer func() { _ = os.Remove(temp) }() // renamed already on success
	if err != nil {
		return "", err
	}
	file := ofProject{path: filepath.Base(whole), size: size, sum: sum}
	if known := s.known(key, file); known != "" {
		return known, nil
	}
	return s.place(key, file, temp)
}

// mediaType is the media type for a file name's extension.
func mediaType(name string) string {
	return cmp.Or(map[string]string{
		".png": "image/png", ".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".gif": "image/gif", ".webp": "image/webp",
		".pdf": "application/pdf", ".txt": "text/plain", ".md": "text/markdown", ".csv": "text/csv", ".json": "application/json",
		".zip": "application/zip", ".html": "text/html", ".svg": "image/svg+xml", ".mp3": "audio/mpeg", ".mp4": "video/mp4",
		".xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
		".docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
	}[strings.ToLower(path.Ext(name))], "application/octet-stream")
}
