package filestore

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/persistence"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
)

// Report is what the files of a chat were found to hold.
type Report struct {
	ChatKey messages.ChatKey `json:"chatKey"`
	// Turns are the messages of the history, Waiting the records that the journal
	// adds to them.
	Turns   int          `json:"turns"`
	Waiting int          `json:"waiting"`
	Files   []FileReport `json:"files"`
	// Refused says why this version cannot use the chat, damaged or not: a newer
	// one wrote facts that it does not know.
	Refused string `json:"refused,omitempty"`
}

// FileReport is what one file was found to hold.
type FileReport struct {
	File    string           `json:"file"` // below the chat's folder
	Bytes   int64            `json:"bytes"`
	Records int              `json:"records"`
	Damage  []journal.Damage `json:"damage,omitempty"`
	// Remedy is what [Store.Repair] does about the damage.
	Remedy Remedy `json:"remedy,omitempty"`
}

// Remedy is what a repair does. It sets aside the file as it is and every
// damaged piece of it before all else.
type Remedy string

// The remedies.
const (
	// RemedyMark writes the history without the damage, with a message in the
	// place of each gap.
	RemedyMark Remedy = "mark"
	// RemedyClose writes the file without the damage.
	RemedyClose Remedy = "close"
	// RemedyRebuild makes a new meta from history, archives, ledger and what is left of it.
	RemedyRebuild Remedy = "rebuild"
	// RemedyNone leaves the file: only a backup of it helps.
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

// Repairable reports whether there is damage that [Store.Repair] mends.
func (r Report) Repairable() bool {
	return slices.ContainsFunc(r.Files, func(f FileReport) bool { return f.Remedy != "" && f.Remedy != RemedyNone })
}

// Chats yields the key of every chat, in no order.
func (i *Inspector) Chats(ctx context.Context) iter.Seq2[messages.ChatKey, error] {
	return i.store.Chats(ctx)
}

// Verify reads all files of a chat and checks every record. It fails with
// [persistence.ErrNotFound] if there is no such chat.
//
// A host that writes meanwhile can make a file look torn. Damage counts only
// when it is found again a moment later, at the same place.
func (i *Inspector) Verify(ctx context.Context, key messages.ChatKey) (Report, error) {
	folder, err := EncodeKey(key)
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

// verifySteady reads until what it finds cannot be a write under way.
func verifySteady(ctx context.Context, c *chat) (Report, error) {
	const pause, tries = 50 * time.Millisecond, 20
	var before Report
	for try := range tries {
		in, err := c.inspect(ctx)
		if err == nil && (len(in.report.Damage()) == 0 || try > 0 && keepKnown(&in.report, before)) {
			return in.report, nil
		}
		if err != nil && (!moving(err) || try == tries-1) {
			return Report{}, err
		}
		before = Report{}
		if err == nil {
			before = in.report
		}
		timer := time.NewTimer(pause)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return Report{}, context.Cause(ctx)
		}
	}
	return before, nil
}

// keepKnown drops damage that was not there before. It reports false if there
// is nothing to compare with.
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
