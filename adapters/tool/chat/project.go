package chat

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/shipmyagent/shipmyagent/adapters/tool"
	"github.com/shipmyagent/shipmyagent/messages"
)

const (
	// maxProject is the largest file of the project that is sent, in bytes.
	maxProject = 50 << 20
	// maxSentName limits the file name that people see, in bytes.
	maxSentName = 100
	// maxFolder limits the path of a folder that people can agree to, in bytes.
	maxFolder = 200
)

// errChanged is the error of a call whose files differ from those that a person agreed to.
var errChanged = errors.New("nothing was sent: a file is not as it was when a person agreed to send it; call the tool again, so that they are asked about it as it is now")

// ofProject is a file of the project to send.
type ofProject struct {
	n    int    // index of the attachment
	path string // without links
	size int64
	sum  string // digest of its bytes
}

// project returns the files of the project among the attachments: all that are not in the chat's own folder. It fails
// if one of them cannot be opened.
func (s *Send) project(key messages.ChatKey, in []attachment, each func(f *os.File, name string) (sum string, size int64, err error)) ([]ofProject, error) {
	if s.opts.Open == nil {
		return nil, nil
	}
	own, err := s.opts.Files.Folder(key)
	if err != nil {
		return nil, fmt.Errorf("name the folder of a chat: %w", err)
	}
	var out []ofProject
	for i, a := range in {
		if a.Path == "" || a.FileID != "" || strings.HasPrefix(filepath.ToSlash(a.Path), own+"/") {
			continue
		}
		file, err := s.one(a.Path, each)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", a.member, err)
		}
		file.n = i
		out = append(out, file)
	}
	return out, nil
}

func (s *Send) one(asked string, each func(f *os.File, name string) (sum string, size int64, err error)) (ofProject, error) {
	f, name, err := s.opts.Open(asked)
	if err != nil {
		return ofProject{}, err
	}
	defer func() { _ = f.Close() }() // opened for reading only
	sum, size, err := each(f, name)
	if err != nil {
		return ofProject{}, err
	}
	return ofProject{path: name, size: size, sum: sum}, nil
}

// digested computes the digest and size of a file.
func digested(f *os.File, _ string) (sum string, size int64, err error) { return copied(io.Discard, f) }

func copied(to io.Writer, f *os.File) (sum string, size int64, err error) {
	h := sha256.New()
	size, err = io.Copy(io.MultiWriter(h, to), io.LimitReader(f, maxProject+1))
	switch {
	case err != nil:
		return "", 0, fmt.Errorf("read a file: %w", err)
	case size > maxProject:
		return "", 0, fmt.Errorf("the file is larger than %d MB, the most that is sent", maxProject>>20)
	}
	return hex.EncodeToString(h.Sum(nil)), size, nil
}

// bindOf is what a decision is bound to: the files and their content.
func bindOf(list []ofProject) string {
	h := sha256.New()
	for _, f := range list {
		_, _ = fmt.Fprintf(h, "%d\x00%s\x00%s\x00", f.n, f.path, f.sum) // a hash never fails
	}
	return "send-" + hex.EncodeToString(h.Sum(nil))
}

// attachmentsOf returns the files that a call of chat_send or chat_send_file names.
func attachmentsOf(input json.RawMessage) ([]attachment, error) {
	var in struct {
		Attachments []attachment `json:"attachments"`
		Path        string       `json:"path"` // of chat_send_file
	}
	if err := json.Unmarshal(input, &in); err != nil {
		return nil, fmt.Errorf("%w: %w", tool.ErrInput, err)
	}
	if in.Path != "" {
		return []attachment{{Path: in.Path, member: "/path"}}, nil
	}
	return named(in.Attachments), nil
}

// named returns attachments that know their member of the input.
func named(list []attachment) []attachment {
	for i := range list {
		list[i].member = fmt.Sprintf("/attachments/%d", i)
	}
	return list
}

// CheckCall implements [tool.Checker]. A file of the project needs approval, unless the same content was sent to the chat
// before. If a file cannot be opened, the call itself reports the error.
func (s *Send) CheckCall(call tool.Call) tool.Verdict {
	list, err := attachmentsOf(call.Input)
	if err != nil {
		return tool.Verdict{Decision: tool.Allow}
	}
	files, err := s.project(call.Run.ChatKey, list, digested)
	if err != nil {
		return tool.Verdict{Decision: tool.Allow}
	}
	for _, f := range files {
		if s.known(call.Run.ChatKey, f) == "" {
			return tool.Verdict{Decision: tool.Ask, Reason: "it sends files of the project"}
		}
	}
	return tool.Verdict{Decision: tool.Allow}
}

// Explain implements [tool.Explainer].
func (s *Send) Explain(call tool.Call) (tool.Explanation, error) {
	list, err := attachmentsOf(call.Input)
	if err != nil {
		return tool.Explanation{}, err
	}
	files, err := s.project(call.Run.ChatKey, list, digested)
	if err != nil || len(files) == 0 {
		return tool.Explanation{}, err
	}
	e, err := tool.Describe(SendName, struct{ Files int }{len(files)})
	var lines []string
	for _, f := range files {
		lines = append(lines, fmt.Sprintf("%s (%d bytes, SHA-256 %s)", f.path, f.size, f.sum))
	}
	e.Exact, e.Bind, e.FilesIn = strings.Join(lines, "\n"), bindOf(files), folderOf(files)
	return e, err
}

// folderOf is the folder that directly contains all of the files, or "" if there is none that people can agree to.
// They cannot agree to the project's own folder, hidden files, or names that cannot be displayed unchanged.
func folderOf(list []ofProject) string {
	folder := path.Dir(list[0].path)
	for _, f := range list {
		plain := strings.IndexFunc(f.path, func(r rune) bool { return !unicode.IsPrint(r) || strings.ContainsRune("`\\", r) }) < 0
		hidden := slices.ContainsFunc(strings.Split(f.path, "/"), func(part string) bool { return strings.HasPrefix(part, ".") })
		if path.Dir(f.path) != folder || hidden || !plain || !utf8.ValidString(f.path) || !filepath.IsLocal(f.path) {
			return ""
		}
	}
	if folder == "." || len(folder) > maxFolder {
		return ""
	}
	return folder
}

// copies copies the files of the project to the chat's own folder and checks the copies against what a person agreed
// to, so that nothing else is sent even if the files change.
func (s *Send) copies(call tool.Call, in []attachment) (map[int]string, error) {
	key := call.Run.ChatKey
	temps := map[string]string{} // by path
	var all []string
	defer func() {
		for _, name := range all {
			_ = os.Remove(name) // renamed already on success
		}
	}()
	files, err := s.project(key, in, func(f *os.File, name string) (string, int64, error) {
		temp, sum, size, err := s.temp(key, f)
		temps[name], all = temp, append(all, temp)
		return sum, size, err
	})
	if err != nil || len(files) == 0 {
		return nil, err
	}
	agreed := call.Bind != "" && call.Bind == bindOf(files)
	out := map[int]string{}
	for _, f := range files {
		if out[f.n] = s.known(key, f); out[f.n] != "" {
			continue
		}
		if !agreed {
			return nil, errChanged
		}
		if out[f.n], err = s.place(key, f, temps[f.path]); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// temp copies a file to a temporary file in the target folder.
func (s *Send) temp(key messages.ChatKey, f *os.File) (name, sum string, size int64, err error) {
	folder, _, err := s.opts.Files.Place(key)
	if err != nil {
		return "", "", 0, err
	}
	temp, err := os.CreateTemp(folder, ".part-*") // 0600
	if err != nil {
		return "", "", 0, fmt.Errorf("make a file: %w", err)
	}
	sum, size, err = copied(temp, f)
	return temp.Name(), sum, size, errors.Join(err, temp.Sync(), temp.Close())
}

// kept is the folder of a copy, relative to Files, and its file name.
func (s *Send) kept(key messages.ChatKey, f ofProject) (folder, name string, err error) {
	own, err := s.opts.Files.Folder(key)
	if err != nil {
		return "", "", fmt.Errorf("name the folder of a chat: %w", err)
	}
	return path.Join(own, "sent-"+f.sum[:32]), sentName(f.path), nil
}

// known is the copy of a file that was sent to the chat before, or "".
func (s *Send) known(key messages.ChatKey, f ofProject) string {
	folder, name, err := s.kept(key, f)
	if err != nil {
		return ""
	}
	whole := filepath.Join(s.opts.Files.Root, filepath.FromSlash(folder), name)
	info, err := os.Lstat(whole)
	if err != nil || !info.Mode().IsRegular() || info.Size() != f.size {
		return ""
	}
	return whole
}

// place moves a copy to its final place.
func (s *Send) place(key messages.ChatKey, f ofProject, temp string) (string, error) {
	folder, name, err := s.kept(key, f)
	if err != nil {
		return "", err
	}
	if err := tool.MakeFolder(s.opts.Files.Root, filepath.FromSlash(folder)); err != nil {
		return "", fmt.Errorf("make the folder of files: %w", err)
	}
	whole := filepath.Join(s.opts.Files.Root, filepath.FromSlash(folder), name)
	if err := os.Rename(temp, whole); err != nil {
		return "", fmt.Errorf("keep a file: %w", err)
	}
	return whole, nil
}

// sentName is the file name that people see, without problematic characters.
func sentName(name string) string {
	name = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) || strings.ContainsRune(`/\:*?"<>|`, r) {
			return '_'
		}
		return r
	}, path.Base(name))
	name = strings.TrimLeft(name, ".")
	if len(name) > maxSentName {
		end := path.Ext(name)
		if len(end) > 20 {
			end = ""
		}
		name = strings.ToValidUTF8(name[:maxSentName-len(end)], "") + end
	}
	return cmp.Or(name, "file")
}
