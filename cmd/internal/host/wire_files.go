package host

import (
	"path/filepath"

	"github.com/shipmyagent/shipmyagent/actors/chat"
	"github.com/shipmyagent/shipmyagent/actors/chat/notices"
	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/adapters/tool"
	"github.com/shipmyagent/shipmyagent/adapters/tool/files"
	"github.com/shipmyagent/shipmyagent/adapters/tool/webfetch"
	"github.com/shipmyagent/shipmyagent/cmd/internal/chatfiles"
	"github.com/shipmyagent/shipmyagent/cmd/internal/query"
	"github.com/shipmyagent/shipmyagent/cmd/internal/sandboxes"
	"github.com/shipmyagent/shipmyagent/messages"
)

// workspace is the project's folder as its tools see it.
func (h *Host) workspace(box *sandboxes.Sandbox) *files.Workspace {
	s := h.opts.Settings.Settings
	o := files.Options{Dir: h.opts.Dir, Stored: h.chatFiles().ChatFiles, Replace: box.Replace, Shelf: h.shelf}
	if rel, ok := below(h.opts.Dir, h.opts.State); ok && rel != ".ship" {
		o.Refused = append(o.Refused, rel)
	}
	for _, folder := range s.Skills.Paths {
		if !filepath.IsAbs(folder) {
			folder = filepath.Join(h.opts.Dir, folder)
		}
		if rel, ok := below(h.opts.Dir, folder); ok {
			o.Skills = append(o.Skills, rel)
		}
	}
	return files.New(o)
}

// fileTools are the tools that work on the project's files, and the one that reads the web.
func (h *Host) fileTools(workspace *files.Workspace) []tool.Tool {
	web := webfetch.Options{Allow: func() []string { return h.settings().Permissions.Fetch.Allow }}
	web.Guard.Open = h.opts.fetchable
	return append(workspace.Tools(), webfetch.New(web))
}

// below returns folder as a slash-separated path relative to dir, if it is below it.
func below(dir, folder string) (string, bool) {
	rel, err := filepath.Rel(dir, folder)
	if err != nil || rel == "." || !filepath.IsLocal(rel) {
		return "", false
	}
	return filepath.ToSlash(rel), true
}

// chatFiles are the files of this host's chats.
func (h *Host) chatFiles() chatfiles.Store { return chatfiles.In(h.opts.State) }

// uploads stores what people upload in the web page and the terminal.
func (h *Host) uploads() *chatfiles.Uploads {
	return &chatfiles.Uploads{Store: h.chatFiles(), Bytes: h.maxFile, Shelf: h.shelf}
}

// maxFile is the longest file that is accepted, in bytes.
func (h *Host) maxFile() int64 { return int64(h.settings().Limits.FileMB) << 20 }

// wholeResult reads the full text of a tool result that was cut.
func (h *Host) wholeResult(key messages.ChatKey, pointer string) (text string, size int64, err error) {
	return h.chatFiles().Whole(key, pointer, notices.MaxOutput)
}

// fetchFiles fetches the files that people send. It looks platforms up when it is called, after they are connected.
func (h *Host) fetchFiles() chat.Fetch {
	return chatfiles.NewMedia(chatfiles.MediaOptions{
		Store: h.chatFiles(), Bytes: h.maxFile, Shelf: h.shelf, Listener: h.voices.Listener, Logger: h.log,
		Platform: func(key messages.ChatKey) platform.Platform {
			if p := h.ports[query.BotOf(key)]; p != nil { // filled before the first message, not changed afterwards
				return p.platform
			}
			return nil
		},
	}).Fetch
}
