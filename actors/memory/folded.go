package memory

import (
	"context"
	"errors"
	"slices"

	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/persistence"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
	"github.com/shipmyagent/shipmyagent/persistence/memories"
)

// maxBack is how many archives an extraction searches for turns that were compacted before it read
// them; older turns are skipped.
const maxBack = 16

// withFolded adds, in front of the turns of the history, those that were compacted before an
// extraction read them. It follows the summaries from one archive to the previous one, until it
// finds the mark.
func withFolded(ctx context.Context, r persistence.FoldedReader, key messages.ChatKey, turns []messages.FoldTurn, mark memories.Mark) ([]messages.FoldTurn, error) {
	if r == nil || len(turns) == 0 || !turns[0].Summary || markAt(turns, mark) >= 0 {
		return turns, nil
	}
	id := journal.ArchiveOf([]uimessage.Message{turns[0].Message})
	for range maxBack {
		if id == "" {
			break
		}
		folded, err := r.ReadFolded(ctx, key, id)
		if errors.Is(err, persistence.ErrNotFound) {
			break // the archive was deleted
		}
		if err != nil {
			return nil, err
		}
		id = journal.ArchiveOf(folded)
		before := foldTurns(folded)
		turns = slices.Concat(before, turns)
		if markAt(before, mark) >= 0 || older(before, mark) {
			break
		}
	}
	return turns, nil
}

// markAt is the index of the mark's turn, or of the summary that ends with it, or -1.
func markAt(turns []messages.FoldTurn, mark memories.Mark) int {
	at := -1
	for i, t := range turns {
		if mark.TurnID != "" && (t.Message.ID == mark.TurnID || t.Summary && t.Range.ToID == mark.TurnID) {
			at = i
		}
	}
	return at
}

// older reports whether all turns arrived before the mark.
func older(turns []messages.FoldTurn, mark memories.Mark) bool {
	return !slices.ContainsFunc(turns, func(t messages.FoldTurn) bool {
		return !t.Summary && journal.NewTurn(t.Message).Meta.Seq > mark.Seq
	})
}

// foldTurns converts turns of an archive, which are all settled.
func foldTurns(folded []uimessage.Message) []messages.FoldTurn {
	out := make([]messages.FoldTurn, len(folded))
	for i, m := range folded {
		t := journal.NewTurn(m)
		out[i] = messages.FoldTurn{Message: m, Ends: t.Ends(), Summary: t.Meta.Kind == uimessage.KindSummary}
		if t.Meta.SourceRange != nil {
			out[i].Range = *t.Meta.SourceRange
		}
	}
	return out
}
