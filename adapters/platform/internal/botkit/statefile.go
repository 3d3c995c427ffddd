package botkit

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/shipmyagent/shipmyagent/persistence/document"
)

// StateFile is a small JSON document of a bot that is always written as a whole. It is not safe for
// concurrent use.
type StateFile struct {
	Dir  string // created when needed; if empty, nothing is kept
	Name string
}

// Load reads the document; if it is missing, into is unchanged.
func (f StateFile) Load(into any) error {
	if f.Dir == "" {
		return nil
	}
	raw, err := os.ReadFile(filepath.Join(f.Dir, f.Name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return json.Unmarshal(raw, into)
}

// Save replaces the document atomically.
func (f StateFile) Save(v any) error {
	if f.Dir == "" {
		return nil
	}
	raw, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return document.Disk{}.Write(filepath.Join(f.Dir, f.Name), raw)
}
