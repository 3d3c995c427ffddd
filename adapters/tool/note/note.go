// Package note has the tool remember_note, which adds one line to a notes file of the project. The file is visible to
// people, so every call needs approval.
package note

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/shipmyagent/shipmyagent/adapters/tool"
)

// Name is the name of the tool.
const Name = "remember_note"

//go:embed *.md *.schema.json
var docs embed.FS

// maxFile is the maximum size of the notes file.
const maxFile = 1 << 20

// errFull is the error if the notes file is full.
var errFull = errors.New("the notes file is full")

// Note is the tool remember_note. Concurrent calls write one after the other.
type Note struct {
	tool.Described

	file string
	zone *time.Location
	mu   sync.Mutex
}

// New makes the tool. The file is created with the first note; its dates are of the time zone.
func New(file string, zone *time.Location) *Note {
	return &Note{file: file, zone: zone, Described: tool.DescribedBy(docs, "note", &tool.Spec{
		Name: Name, Title: "Write a note", Ordered: true, Asks: true, Deadline: 10 * time.Second,
	})}
}

// Invoke implements [tool.Tool].
func (n *Note) Invoke(ctx context.Context, call tool.Call) (tool.Result, error) {
	var in struct {
		Text string `json:"text"`
	}
	if err := call.Read(&in); err != nil {
		return tool.Result{}, err
	}
	text := oneLine(in.Text)
	if text == "" {
		return tool.Result{}, fmt.Errorf("%w: /text: there is nothing to write down", tool.ErrInput)
	}
	if err := ctx.Err(); err != nil {
		return tool.Result{}, err
	}
	line := "- " + time.Now().In(n.zone).Format("2006-01-02 15:04") + " " + text + "\n"
	if err := n.add(line); err != nil {
		return tool.Result{}, fmt.Errorf("write the note: %w", err)
	}
	return tool.Answer(map[string]string{"written": text, "file": filepath.Base(n.file)}, text)
}

// oneLine puts a note on one line, so that it cannot imitate several notes.
func oneLine(s string) string {
	return strings.Join(strings.FieldsFunc(s, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }), " ")
}

// add appends a line and syncs it to disk.
func (n *Note) add(line string) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	f, err := os.OpenFile(n.file, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	info, err := f.Stat()
	switch {
	case err != nil:
	case !info.Mode().IsRegular():
		err = errors.New("the notes file is not an ordinary file")
	case info.Size()+int64(len(line)) > maxFile:
		err = errFull
	default:
		if _, err = f.WriteString(line); err == nil {
			err = f.Sync()
		}
	}
	return errors.Join(err, f.Close())
}
