package query

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
	"github.com/shipmyagent/shipmyagent/persistence/filestore"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
)

const (
	// archiveMember is the metadata of a summary that names the archive of what it
	// stands for.
	archiveMember = "archive"
	// agedMember is the metadata of a turn that names the archive of what it was
	// before large outputs were left out.
	agedMember = "aged"
)

// archiveOf is the archive that a member of a turn's metadata names; empty: none.
func archiveOf(meta uimessage.Metadata, m uimessage.Member) (id string) {
	if m.Name != agedMember && (m.Name != archiveMember || meta.Kind != uimessage.KindSummary) {
		return ""
	}
	if json.Unmarshal(m.Value, &id) != nil {
		return ""
	}
	return id
}

// archiveFile is the file of an archive; empty if that cannot be its name.
func archiveFile(store *filestore.Store, key messages.ChatKey, id string) (string, error) {
	dir, err := store.ChatDir(key)
	if err != nil || id == "" || filepath.Base(id) != id {
		return "", err
	}
	return filepath.Join(dir, "messages", "archive", id+".json"), nil
}

// readArchives reads the archives that turns name, and those that turns within them
// name. What is not there stays out.
func readArchives(store *filestore.Store, key messages.ChatKey, turns []uimessage.Message, into map[string][]byte) error {
	for _, m := range turns {
		meta, _ := uimessage.DecodeMetadata(m.Metadata) // what is not ours names none
		for _, member := range meta.Extra {
			if err := readArchive(store, key, archiveOf(meta, member), into); err != nil {
				return err
			}
		}
	}
	return nil
}

func readArchive(store *filestore.Store, key messages.ChatKey, id string, into map[string][]byte) error {
	file, err := archiveFile(store, key, id)
	if err != nil || file == "" || into[id] != nil {
		return err
	}
	b, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var archive journal.Archive
	if err == nil {
		err = json.Unmarshal(b, &archive)
	}
	if err != nil {
		return fmt.Errorf("read archive %s: %w", id, err)
	}
	into[id] = b
	var within []uimessage.Message
	for _, line := range archive.Lines {
		if m, ok := filestore.ParseTurn([]byte(line)); ok {
			within = append(within, m)
		}
	}
	return readArchives(store, key, within, into)
}

// writeArchives writes archives, byte for byte, into the folder of another chat.
func writeArchives(store *filestore.Store, key messages.ChatKey, archives map[string][]byte) error {
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
