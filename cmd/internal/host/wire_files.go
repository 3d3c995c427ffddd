package host

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/shipmyagent/shipmyagent/adapters/tool"
	"github.com/shipmyagent/shipmyagent/adapters/tool/files"
	"github.com/shipmyagent/shipmyagent/adapters/tool/webfetch"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/persistence/filestore"
)

// workspace is the project's folder as its tools see it.
func (h *Host) workspace(stored string) *files.Workspace {
	s := h.opts.Settings.Settings
	o := files.Options{Dir: h.opts.Dir, Stored: stored, Folder: resultsOf, Shelf: h.shelf}
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

// fileTools are the tools that work on the project's files and read the web.
func (h *Host) fileTools(workspace *files.Workspace) []tool.Tool {
	web := webfetch.Options{Allow: h.opts.Settings.Settings.Permissions.Fetch.Allow}
	web.Guard.Open = h.opts.fetchable
	return append(workspace.Tools(), webfetch.New(web))
}

// below is a folder as a path below another, with slashes.
func below(dir, folder string) (string, bool) {
	rel, err := filepath.Rel(dir, folder)
	if err != nil || rel == "." || !filepath.IsLocal(rel) {
		return "", false
	}
	return filepath.ToSlash(rel), true
}

// maxFolder is the longest encoded key that names the folder of a chat's results;
// pointers to results are a part of what a model reads.
const maxFolder = 150

// resultsOf is where a chat's whole results are, below the folder of files: no two
// chats share it. It begins every pointer to them.
func resultsOf(key messages.ChatKey) (string, error) {
	name, err := filestore.EncodeKey(key)
	if err != nil {
		return "", err
	}
	if len(name) > maxFolder {
		sum := sha256.Sum256([]byte(key))
		name = "~" + hex.EncodeToString(sum[:]) // no encoded key begins so
	}
	return path.Join("results", name), nil
}

// keepIn stores whole results of a chat below a folder, under a name that no model
// chose.
func keepIn(stored string, key messages.ChatKey) tool.Keep {
	return func(_ context.Context, name string, data []byte) (string, error) {
		folder, err := resultsOf(key)
		if err != nil {
			return "", err
		}
		dir := filepath.Join(stored, filepath.FromSlash(folder))
		if err := tool.MakeFolder(stored, filepath.FromSlash(folder)); err != nil {
			return "", fmt.Errorf("make the folder of results: %w", err)
		}
		name = resultName(name)
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			return "", fmt.Errorf("store a result: %w", err)
		}
		return path.Join(folder, name), nil
	}
}

// resultName is the name of the file of a whole result.
func resultName(name string) string {
	name = strings.Map(func(r rune) rune {
		if r < 0x80 && (r == '-' || r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z') {
			return r
		}
		return '_'
	}, name)
	return name[:min(len(name), 150)] + ".txt"
}
