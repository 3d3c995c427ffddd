package host

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/google/renameio/v2"

	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/persistence"
	"github.com/shipmyagent/shipmyagent/persistence/jsonl"
)

// archiveMember is the metadata of a summary that names the archive of what it
// stands for.
const archiveMember = "archive"

// archiveOf is the archive that a turn's metadata names; empty: none.
func archiveOf(meta uimessage.Metadata) (id string) {
	for _, m := range meta.Extra {
		if m.Name == archiveMember && json.Unmarshal(m.Value, &id) != nil {
			return ""
		}
	}
	return id
}

// archiveFile is the file of an archive; empty if that cannot be its name.
func archiveFile(store *jsonl.Store, key messages.ChatKey, id string) (string, error) {
	dir, err := store.ChatDir(key)
	if err != nil || id == "" || filepath.Base(id) != id {
		return "", err
	}
	return filepath.Join(dir, "messages", "archive", id+".json"), nil
}

// readArchives reads the archives that summaries among the turns name, and those
// that summaries within them name. What is not there stays out.
func readArchives(store *jsonl.Store, key messages.ChatKey, turns []uimessage.Message, into map[string][]byte) error {
	for _, m := range turns {
		meta, _ := uimessage.DecodeMetadata(m.Metadata) // what is not ours names none
		id := archiveOf(meta)
		file, err := archiveFile(store, key, id)
		if err != nil {
			return err
		}
		if meta.Kind != uimessage.KindSummary || file == "" || into[id] != nil {
			continue
		}
		b, err := os.ReadFile(file)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		var archive persistence.Archive
		if err == nil {
			err = json.Unmarshal(b, &archive)
		}
		if err != nil {
			return fmt.Errorf("read archive %s: %w", id, err)
		}
		into[id] = b
		var within []uimessage.Message
		for _, line := range archive.Lines {
			if m, ok := jsonl.ParseTurn([]byte(line)); ok {
				within = append(within, m)
			}
		}
		if err := readArchives(store, key, within, into); err != nil {
			return err
		}
	}
	return nil
}

// writeArchives writes archives, byte for byte, into the folder of another chat.
func writeArchives(store *jsonl.Store, key messages.ChatKey, archives map[string][]byte) error {
	for id, b := range archives {
		file, err := archiveFile(store, key, id)
		if err != nil {
			return err
		}
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			return fmt.Errorf("copy archive %s: %w", id, err)
		}
		if err := renameio.WriteFile(file, b, 0o600); err != nil {
			return fmt.Errorf("copy archive %s: %w", id, err)
		}
	}
	return nil
}
