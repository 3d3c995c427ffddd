package files

import (
	"bytes"
	"fmt"
	"io/fs"
	"strings"
	"unicode/utf8"

	"github.com/shipmyagent/shipmyagent/adapters/tool"
)

// Edit is the tool edit_file.
type Edit struct{ changer }

type edit struct {
	Path, Old, New string
	All            bool
}

func editInput(call tool.Call) (path string, how rewrite, err error) {
	var in edit
	err = call.Read(&in)
	return in.Path, in.rewrite, err
}

// rewrite replaces the old text. Line ends follow those of the file.
func (in edit) rewrite(old []byte, absent, hidden bool) ([]byte, error) {
	switch {
	case hidden:
		return nil, fmt.Errorf("%w: %s cannot be read, so it cannot be edited; %s replaces it", ErrRefused, shown(in.Path), WriteName)
	case absent:
		return nil, fmt.Errorf("%w: there is no file %s; %s makes one", fs.ErrNotExist, shown(in.Path), WriteName)
	}
	head := old[:min(len(old), sniffed)]
	if kind := kindOf(head); kind != "" {
		return nil, fmt.Errorf("%s cannot be edited: it is %s, %s; %s replaces all of it", shown(in.Path), kind, bytesOf(int64(len(old))), WriteName)
	}
	beyond := func(r rune) bool { return r >= utf8.RuneSelf }
	if name, other := encodingOf(head); other != nil && strings.ContainsFunc(in.Old+in.New, beyond) {
		return nil, fmt.Errorf("%w: %s is text in %s, where only ASCII can be edited; %s replaces all of it", tool.ErrInput, shown(in.Path), name, WriteName)
	}
	from, to := []byte(lineEnds(old, in.Old)), []byte(lineEnds(old, in.New))
	n := bytes.Count(old, from)
	if n == 0 { // the lines of the file may end in both ways
		from, to = []byte(windows(in.Old)), []byte(windows(in.New))
		n = bytes.Count(old, from)
	}
	switch {
	case n == 0:
		return nil, fmt.Errorf("%w: /old: %s does not hold these words; read it again, and give them without line numbers", tool.ErrInput, shown(in.Path))
	case n > 1 && !in.All:
		return nil, fmt.Errorf("%w: /old: %s holds these words %d times; give more of what is around them, or set all", tool.ErrInput, shown(in.Path), n)
	case len(old)+n*(len(to)-len(from)) > maxText:
		return nil, fmt.Errorf("%w: %s would be too large; files up to %s can be written", tool.ErrInput, shown(in.Path), bytesOf(maxText))
	}
	return bytes.ReplaceAll(old, from, to), nil
}

// lineEnds converts a text to the line ends of a file.
func lineEnds(file []byte, text string) string {
	feeds, both := bytes.Count(file, []byte("\n")), bytes.Count(file, []byte("\r\n"))
	switch {
	case both == 0 && feeds > 0:
		return strings.ReplaceAll(text, "\r\n", "\n")
	case both > 0 && both == feeds:
		return windows(text)
	default:
		return text
	}
}

// windows is a text with the line ends of Windows.
func windows(text string) string {
	return strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\n", "\r\n")
}
