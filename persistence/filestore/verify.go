package filestore

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"time"

	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/persistence"
	"github.com/shipmyagent/shipmyagent/persistence/chatpath"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
)

// Report is the result of verifying the files of a chat.
type Report struct {
	ChatKey messages.ChatKey `json:"chatKey"`
	// Turns counts the messages of the history, Waiting the records that the journal adds to them.
	Turns   int          `json:"turns"`
	Waiting int          `json:"waiting"`
	Files   []FileReport `json:"files"`
	// Refused says why this version cannot use the chat, damaged or not: a newer version wrote facts
	// that it does not know.
	Refused string `json:"refused,omitempty"`
}

// FileReport is the result for one file.
type FileReport struct {
	File    string           `json:"file"` // relative to the chat's folder
	Bytes   int64            `json:"bytes"`
	Records int              `json:"records"`
	Damage  []journal.Damage `json:"damage,omitempty"`
	// Remedy is what [Store.Repair] does about the damage.
	Remedy Remedy `json:"remedy,omitempty"`
}

// Remedy is what a repair does. First of all it quarantines the original file and every damaged
// piece of it.
type Remedy string

// The remedies.
const (
	// RemedyMark writes the history without the damage, with a message in place of each gap.
	RemedyMark Remedy = "mark"
	// RemedyClose writes the file without the damage.
	RemedyClose Remedy = "close"
	// RemedyRebuild makes a new meta from history, archives, ledger and the rest of the meta.
	RemedyRebuild Remedy = "rebuild"
	// RemedyNone leaves the file unchanged: it can only be restored from a backup.
	RemedyNone Remedy = "none"
)

// Damage is all damage of a chat, file by file.
func (r Report) Damage() []journal.Damage {
	var all []journal.Damage
	for _, f := range r.Files {
		all = append(all, f.Damage...)
	}
	return all
}

// Repairable reports whether there is damage that [Store.Repair] can repair.
func (r Report) Repairable() bool {
	return slices.ContainsFunc(r.Files, func(f FileReport) bool { return f.Remedy != "" && f.Remedy != RemedyNone })
}

// Chats yields the key of every chat, in no particular order.
func (i *Inspector) Chats(ctx context.Context) iter.Seq2[messages.ChatKey, error] {
	return i.store.Chats(ctx)
}

// Verify reads all files of a chat and checks every record. It fails with [persistence.ErrNotFound]
// if there is no such chat.
//
// A host that writes at the same time can make a file look torn. Damage only counts if it is found
// again a moment later, at the same position.
func (i *Inspector) Verify(ctx context.Context, key messages.ChatKey) (Report, error) {
	folder, err := chatpath.Encode(key)
	if err != nil {
		return Report{}, err
	}
	c := newChat(i.store, key, folder)
	if err := i.store.checkDir(c.dir); isMissing(err) {
		return Report{}, fmt.Errorf("verify %s: %w", key, persistence.ErrNotFound)
	}
	report, err := verifySteady(ctx, c)
	if err != nil {
		return Report{}, fmt.Errorf("verify %s: %w", key, err)
	}
	return report, nil
}

// verifySteady reads until its findings cannot be a write in progress.
func verifySteady(ctx context.Context, c *chat) (Report, error) {
	const pause, tries = 50 * time.Millisecond, 20
	var before Report
	for try := range tries {
		in, err := c.inspect(ctx)
		if err == nil && (len(in.report.Damage()) == 0 || try > 0 && keepKnown(&in.report, before)) {
			return in.report, nil
		}
		// A file that is changed while it is read seems to end too early.
		if err != nil && (!errors.Is(err, io.ErrUnexpectedEOF) || try == tries-1) {
			return Report{}, err
		}
		before = Report{}
		if err == nil {
			before = in.report
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return Report{}, context.Cause(ctx)
		}
	}
	return before, nil
}

// keepKnown drops damage that was not found before. It returns false if there is nothing to compare
// with.
func keepKnown(r *Report, before Report) bool {
	if before.Files == nil {
		return false
	}
	known := before.Damage()
	for i := range r.Files {
		f := &r.Files[i]
		f.Damage = slices.DeleteFunc(f.Damage, func(d journal.Damage) bool { return !slices.Contains(known, d) })
		if len(f.Damage) == 0 {
			f.Remedy = ""
		}
	}
	return true
}
