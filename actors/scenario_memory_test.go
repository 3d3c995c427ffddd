package actors_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/shipmyagent/shipmyagent/actors/memory"
	"github.com/shipmyagent/shipmyagent/adapters/model"
	"github.com/shipmyagent/shipmyagent/adapters/model/modeltest"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/persistence"
	"github.com/shipmyagent/shipmyagent/persistence/memfile"
	"github.com/shipmyagent/shipmyagent/persistence/memories"
)

func newMemories(dir string) *memfile.Store {
	return memfile.New(memfile.Options{
		State: dir, ChatDir: func(key messages.ChatKey) (string, error) { return filepath.Join(dir, "chat", string(key)), nil },
	})
}

// rememberAt makes chats take facts.
func (s *scenario) rememberAt(limits string) error {
	archived, ok := s.store.Store.(persistence.ArchiveReader)
	if !ok {
		return errors.New("the store reads no archives")
	}
	o := memory.Options{Store: newMemories(s.t.TempDir()), Archives: archived}
	if _, err := fmt.Sscanf(limits, "%d %d", &o.MinTurns, &o.MaxChars); err != nil {
		return err
	}
	s.o.Memory = &o
	s.notes = modeltest.NewScript()
	talks := s.o.Model
	if talks == nil {
		talks = s.model
	}
	s.o.Model = noter{talks, s.notes}
	return nil
}

// noter is a model that has facts written by another model, so that neither script depends on when the other is used.
type noter struct{ talks, notes model.Model }

func (n noter) Stream(ctx context.Context, req model.Request) iter.Seq2[model.Event, error] {
	if strings.HasPrefix(req.System, "You take notes") || strings.HasPrefix(req.System, "You shorten the notes") {
		return n.notes.Stream(ctx, req)
	}
	return n.talks.Stream(ctx, req)
}

// remembered plays the words of memories.
func (s *scenario) remembered(verb, rest string) (string, error) {
	if verb == "facts" {
		main := s.model
		s.model = s.notes
		defer func() { s.model = main }()
		return "", s.answer(rest)
	}
	store, ok := s.o.Memory.Store.(*memfile.Store)
	if !ok {
		return "", errors.New("memories are not in files")
	}
	file, err := store.Path(memories.Place{Chat: s.key})
	if err != nil {
		return "", err
	}
	switch name, text, _ := strings.Cut(rest, " "); name {
	case "":
		text, err := store.ReadMemory(s.t.Context(), memories.Place{Chat: s.key})
		return strings.ReplaceAll(strings.TrimSpace(text), "\n", " / "), err
	case "backups":
		kept, err := filepath.Glob(filepath.Join(filepath.Dir(file), "backup", "*.md"))
		return strconv.Itoa(len(kept)), err
	case "begins":
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			return "", err
		}
		return "", os.WriteFile(file, []byte(strings.ReplaceAll(text, " / ", "\n")+"\n"), 0o600)
	case "asked":
		var seen []string
		for _, req := range s.notes.Requests() {
			seen = append(seen, fmt.Sprintf("%t %d", strings.Contains(req.System, "Keep what people like."), strings.Count(fmt.Sprint(req.Messages), `{"n":`)))
		}
		return strings.Join(seen, ", "), nil
	}
	return "", errors.New("no such word")
}
