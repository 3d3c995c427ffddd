package actors_test

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"strings"

	"github.com/shipmyagent/shipmyagent/actors/compaction"
	"github.com/shipmyagent/shipmyagent/actors/internal/tokens"
	"github.com/shipmyagent/shipmyagent/adapters/model"
	"github.com/shipmyagent/shipmyagent/adapters/model/modeltest"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/persistence"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
)

// systemTokens are those of the system text in scenarios.
const systemTokens = 1760

// compactAt makes chats compact their histories above a budget for their messages. The
// cheap bound counts, so that no tables are read.
func (s *scenario) compactAt(limits string) error {
	o := compaction.Options{Count: func(text string) (int, error) { return tokens.Bound(text), nil }}
	limits, o.Extract = strings.CutSuffix(limits, " extract")
	if _, err := fmt.Sscanf(limits, "%d %d", &o.Keep, &o.Budget); err != nil {
		return err
	}
	o.Budget += systemTokens
	s.o.Compaction = &o
	s.sums = modeltest.NewScript()
	s.o.Model = writer{s.model, s.sums}
	return nil
}

// writer is a model that has summaries written by another model, so that neither script depends on when the other is
// used.
type writer struct{ talks, sums *modeltest.Script }

func (w writer) Stream(ctx context.Context, req model.Request) iter.Seq2[model.Event, error] {
	if strings.HasPrefix(req.System, "You write the memory") {
		return w.sums.Stream(ctx, req)
	}
	return w.talks.Stream(ctx, req)
}

// summary adds a step to the script of summaries.
func (s *scenario) summary(clauses string) error {
	main := s.model
	s.model = s.sums
	defer func() { s.model = main }()
	return s.answer(clauses)
}

// archives returns the archives of a chat, the newest first: the first summary in an archive names the previous one.
func archives(c persistence.Chat, snap journal.Snapshot) ([]journal.Archive, error) {
	var out []journal.Archive
	for id := snap.Meta.Cursor; id != ""; {
		a, err := c.ReadArchive(context.Background(), id)
		if err != nil {
			return out, err
		}
		out, id = append(out, a), ""
		if len(a.Lines) > 0 {
			id = archiveOf([]byte(a.Lines[0]))
		}
	}
	return out, nil
}

// archived says what was compacted last.
func (s *scenario) archived() (string, error) {
	s.world().Kill()
	s.store.revive()
	c, err := s.store.OpenChat(s.t.Context(), s.key)
	if err != nil {
		return "", err
	}
	snap, err := c.Load(s.t.Context())
	if err != nil {
		return "", err
	}
	list, err := archives(c, snap)
	var out []string
	for _, a := range list {
		var r struct{ Count int }
		if err := json.Unmarshal(a.SourceRange, &r); err != nil {
			return "", err
		}
		out = append(out, fmt.Sprintf("%d for %d", len(a.Lines), r.Count))
	}
	_ = c.Close() // only read
	s.w = s.w.Again(nil)
	return strings.Join(out, ", "), err
}

// archiveOf is the archive that a line names, if it is a summary's.
func archiveOf(line []byte) string {
	var m struct{ Metadata struct{ Archive string } }
	_ = json.Unmarshal(line, &m) // a line that names none
	return m.Metadata.Archive
}

// summaryOf is the summary at the head of a history, if there is one.
func summaryOf(history []uimessage.Message) (journal.Turn, bool) {
	if len(history) == 0 {
		return journal.Turn{}, false
	}
	t := journal.NewTurn(history[0])
	return t, t.Meta.Kind == uimessage.KindSummary
}
