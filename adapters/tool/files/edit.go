package files

import (
	"bytes"
	"fmt"
	"io/fs"
	"strings"

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

// rewrite replaces the old text. Line ends follow those of the file, if it has only one kind.
func (in edit) rewrite(old []byte, absent, hidden bool) ([]byte, error) {
	switch {
	case hidden:
		return nil, fmt.Errorf("%w: %s cannot be read, so it cannot be edited; %s replaces it", ErrRefused, shown(in.Path), WriteName)
	case absent:
		return nil, fmt.Errorf("%w: there is no file %s; %s makes one", fs.ErrNotExist, shown(in.Path), WriteName)
	}
	if kind := kindOf(old[:min(len(old), sniffed)]); kind != "" {
		return nil, fmt.Errorf("%s holds no text: it is %s, %s", shown(in.Path), kind, bytesOf(int64(len(old))))
	}
	from, to := []byte(lineEnds(old, in.Old)), []byte(lineEnds(old, in.New))
	n := bytes.Count(old, from)
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
		return strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\n", "\r\n")
	default:
		return text
	}
}
