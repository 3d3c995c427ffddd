package query

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/persistence/document"
	"github.com/shipmyagent/shipmyagent/persistence/filestore"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
)

// Reasons to refuse making a chat from messages.
var (
	ErrChatExists  = errors.New("there is such a chat already")
	ErrNotAdopted  = errors.New("only chats of web, cli and api can be made of messages")
	ErrNoSuchTurn  = errors.New("the chat's history has no such message")
	errRole        = errors.New("a history holds messages of user and assistant only")
	errID          = errors.New("needs an id of its own")
	errUnsettled   = errors.New("a tool call in it has no outcome yet")
	errUnanswered  = errors.New("the last message is a user's, and has no answer")
	errNothingLeft = errors.New("no message is left")
)

// ReadMessages reads exported UI messages: a JSON array of them, an object with such an array as its member messages,
// or one message per line. The result is valid; [Adopt] checks whether a chat can be made from it.
func ReadMessages(from io.Reader) ([]uimessage.Message, error) {
	var values []json.RawMessage
	for dec := json.NewDecoder(from); ; {
		var v json.RawMessage
		err := dec.Decode(&v)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("read the messages: %w", err)
		}
		values = append(values, v)
	}
	if len(values) == 1 {
		var list []json.RawMessage
		var object struct {
			Messages []json.RawMessage `json:"messages"`
		}
		switch {
		case json.Unmarshal(values[0], &list) == nil:
			values = list
		case json.Unmarshal(values[0], &object) == nil && object.Messages != nil:
			values = object.Messages
		}
	}
	raw := slices.Concat([]byte("["), bytes.Join(asBytes(values), []byte(",")), []byte("]"))
	return uimessage.Validate(raw)
}

func asBytes(values []json.RawMessage) [][]byte {
	out := make([][]byte, len(values))
	for i, v := range values {
		out[i] = v
	}
	return out
}

// Adopt makes a chat from messages, in a store that no host uses. Nothing in the chat is pending. It fails with
// [ErrChatExists], [ErrNotAdopted] or an error that names the message that cannot be used.
func Adopt(ctx context.Context, store *filestore.Store, key messages.ChatKey, list []uimessage.Message, now time.Time) error {
	return adopt(ctx, store, key, list, nil, now)
}

// adopt is Adopt with the archive files that summaries among the messages refer to.
func adopt(ctx context.Context, store *filestore.Store, key messages.ChatKey, list []uimessage.Message, archives map[string][]byte, now time.Time) (err error) {
	address, ok := key.Address()
	if !ok || address.Account != "" || address.Topic != 0 || !slices.Contains([]string{"web", "cli", "api"}, address.Platform) {
		return ErrNotAdopted
	}
	turns, err := adopted(key, address, list, archives, now)
	if err != nil {
		return err
	}
	switch err := Present(store, key); {
	case err == nil:
		return ErrChatExists
	case !errors.Is(err, platform.ErrNotFound):
		return err
	}
	c, err := store.OpenChat(ctx, key)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	if _, err := c.Load(ctx); err != nil {
		return err
	}
	// If this process is killed, the mark tells the next host not to trust what it finds.
	if err := c.Wake(ctx); err != nil {
		return err
	}
	if err := writeArchives(store, key, archives); err != nil {
		return err
	}
	if err := c.AppendHistory(ctx, turns...); err != nil {
		return err
	}
	return c.Rest(ctx)
}

// adopted converts messages to turns of another chat. Of their metadata it keeps who wrote them and when.
func adopted(key messages.ChatKey, address messages.Address, list []uimessage.Message, archives map[string][]byte, now time.Time) ([]uimessage.Message, error) {
	out := make([]uimessage.Message, len(list))
	seen := map[string]bool{}
	for i, m := range list {
		if err := adoptable(m, seen); err != nil {
			return nil, fmt.Errorf("message %d (%q): %w", i+1, m.ID, err)
		}
		seen[m.ID] = true
		old, _ := uimessage.DecodeMetadata(m.Metadata) // metadata of other programs is dropped
		meta := uimessage.Metadata{
			TS: old.TS, ChatKey: string(key), Channel: address.Platform, ChatID: address.Chat, UserID: old.UserID, Username: old.Username, Model: old.Model,
		}
		if meta.TS <= 0 {
			meta.TS = now.UnixMilli()
		}
		if m.Role == uimessage.RoleAssistant {
			meta.Result = string(journal.ResultDone)
			if old.Kind == uimessage.KindSummary {
				meta.Kind, meta.SourceRange = old.Kind, old.SourceRange
			}
			meta.Extra = slices.DeleteFunc(slices.Clone(old.Extra), func(m uimessage.Member) bool { return archives[archiveOf(old, m)] == nil })
		}
		m.Metadata = meta.Raw()
		out[i] = m
	}
	switch {
	case len(out) == 0:
		return nil, errNothingLeft
	case out[len(out)-1].Role == uimessage.RoleUser:
		return nil, errUnanswered
	}
	return out, nil
}

// adoptable returns an error if a message cannot be a turn of a new chat.
func adoptable(m uimessage.Message, seen map[string]bool) error {
	if m.Role != uimessage.RoleUser && m.Role != uimessage.RoleAssistant {
		return errRole
	}
	if m.ID == "" || seen[m.ID] {
		return errID
	}
	for _, p := range m.Parts {
		if call, ok := p.(uimessage.Tool); ok && !call.State.Settled() {
			return errUnsettled
		}
	}
	return nil
}

// Fork makes a chat from the part of another chat's history before a message, in a store that no host uses. It copies
// the archives that those turns refer to, and leaves the other chat unchanged. It fails like [Adopt], with
// [ErrNoSuchTurn], or with [platform.ErrNotFound] if the other chat does not exist.
func Fork(ctx context.Context, store *filestore.Store, from, to messages.ChatKey, before string, now time.Time) (turns int, err error) {
	doc, err := ReadChat(ctx, store, from)
	if err != nil {
		return 0, err
	}
	n := slices.IndexFunc(doc.Messages, func(m uimessage.Message) bool { return m.ID == before })
	if n < 0 {
		return 0, ErrNoSuchTurn
	}
	archives := map[string][]byte{}
	if err := readArchives(store, from, doc.Messages[:n], archives); err != nil {
		return 0, err
	}
	return n, adopt(ctx, store, to, doc.Messages[:n], archives, now)
}

const (
	// archiveMember is the metadata of a summary that names the archive of the turns it replaces.
	archiveMember = "archive"
	// agedMember is the metadata of a turn that names the archive of its version with the large outputs.
	agedMember = "aged"
)

// archiveOf is the id of the archive that a member of a turn's metadata names, or "".
func archiveOf(meta uimessage.Metadata, m uimessage.Member) (id string) {
	if m.Name != agedMember && (m.Name != archiveMember || meta.Kind != uimessage.KindSummary) {
		return ""
	}
	if json.Unmarshal(m.Value, &id) != nil {
		return ""
	}
	return id
}

// archiveFile is the path of an archive, or "" if the id cannot be a file name.
func archiveFile(store *filestore.Store, key messages.ChatKey, id string) (string, error) {
	dir, err := store.ChatDir(key)
	if err != nil || id == "" || filepath.Base(id) != id {
		return "", err
	}
	return filepath.Join(dir, "messages", "archive", id+".json"), nil
}

// readArchives reads the archives that turns name, and recursively those that the turns in them name. Missing ones
// are skipped.
func readArchives(store *filestore.Store, key messages.ChatKey, turns []uimessage.Message, into map[string][]byte) error {
	for _, m := range turns {
		meta, _ := uimessage.DecodeMetadata(m.Metadata) // other programs' metadata names none
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
	return readArchives(store, key, filestore.TurnsOf(archive), into)
}

// writeArchives writes archives, byte for byte and durably, to the folder of another chat.
func writeArchives(store *filestore.Store, key messages.ChatKey, archives map[string][]byte) error {
	for id, b := range archives {
		file, err := archiveFile(store, key, id)
		if err != nil {
			return err
		}
		if err := (document.Disk{}).Write(file, b); err != nil {
			return fmt.Errorf("copy archive %s: %w", id, err)
		}
	}
	return nil
}
