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

// withArchived adds, in front of the turns of the history, those that were compacted before an
// extraction read them. It follows the summaries from one archive to the previous one, until it
// finds the mark.
func withArchived(ctx context.Context, r persistence.ArchiveReader, key messages.ChatKey, turns []messages.CompactTurn, mark memories.Mark) ([]messages.CompactTurn, error) {
	if r == nil || len(turns) == 0 || !turns[0].Summary || markAt(turns, mark) >= 0 {
		return turns, nil
	}
	id := journal.ArchiveOf([]uimessage.Message{turns[0].Message})
	for range maxBack {
		if id == "" {
			break
		}
		archived, err := r.ReadArchive(ctx, key, id)
		if errors.Is(err, persistence.ErrNotFound) {
			break // the archive was deleted
		}
		if err != nil {
			return nil, err
		}
		id = journal.ArchiveOf(archived)
		before := archivedTurns(archived)
		turns = slices.Concat(before, turns)
		if markAt(before, mark) >= 0 || older(before, mark) {
			break
		}
	}
	return turns, nil
}

// markAt is the index of the mark's turn, or of the summary that ends with it, or -1.
func markAt(turns []messages.CompactTurn, mark memories.Mark) int {
	at := -1
	for i, t := range turns {
		if mark.TurnID != "" && (t.Message.ID == mark.TurnID || t.Summary && t.Range.ToID == mark.TurnID) {
			at = i
		}
	}
	return at
}

// older reports whether all turns arrived before the mark.
func older(turns []messages.CompactTurn, mark memories.Mark) bool {
	return !slices.ContainsFunc(turns, func(t messages.CompactTurn) bool {
		return !t.Summary && journal.NewTurn(t.Message).Meta.Seq > mark.Seq
	})
}

// archivedTurns converts turns of an archive, which are all settled.
func archivedTurns(archived []uimessage.Message) []messages.CompactTurn {
	out := make([]messages.CompactTurn, len(archived))
	for i, m := range archived {
		t := journal.NewTurn(m)
		out[i] = messages.CompactTurn{Message: m, Ends: t.Ends(), Summary: t.Meta.Kind == uimessage.KindSummary}
		if t.Meta.SourceRange != nil {
			out[i].Range = *t.Meta.SourceRange
		}
	}
	return out
}
