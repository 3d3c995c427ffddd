package filestore

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"slices"
	"time"

	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/persistence"
	"github.com/shipmyagent/shipmyagent/persistence/filestore/internal/linefile"
	"github.com/shipmyagent/shipmyagent/persistence/filestore/internal/vfs"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
)

// RepairOptions configure [Store.Repair].
type RepairOptions struct {
	// Gap returns the text, for people and the model, that marks so many missing bytes of the
	// history; nil means an English text.
	Gap func(lost int64) string
}

// Repaired is the result of a repair.
type Repaired struct {
	ChatKey messages.ChatKey `json:"chatKey"`
	At      int64            `json:"at"` // Unix milliseconds
	Files   []RepairedFile   `json:"files"`
	// Left is damage that cannot be repaired.
	Left []journal.Damage `json:"left,omitempty"`
}

// RepairedFile is one repaired file.
type RepairedFile struct {
	File   string `json:"file"`
	Remedy Remedy `json:"remedy"`
	// Backup is the copy of the original file, Pieces are the damaged pieces; all are in quarantine.
	Backup string  `json:"backup"`
	Pieces []Piece `json:"pieces"`
}

// Piece is a damaged piece of a file and the name of its copy.
type Piece struct {
	journal.Damage
	Copy string `json:"copy"`
}

// errRefused is the cause of not repairing data of a newer version.
var errRefused = errors.New("this version cannot read the chat")

// Repair makes the files of a chat intact: intact data stays, byte for byte and in order; damaged
// pieces and the original files first go to quarantine, with a note of what was done. In the
// history a message of [uimessage.KindGap] marks each gap, except for a torn tail, which was never
// acknowledged. Afterwards the history can be rewritten.
//
// An intact chat is not changed, so repeating a repair does nothing; the next repair continues one
// that was interrupted. The chat must not be open. It fails with [persistence.ErrNotFound] if there
// is no such chat.
func (s *Store) Repair(ctx context.Context, key messages.ChatKey, o RepairOptions) (done Repaired, err error) {
	if o.Gap == nil {
		o.Gap = func(lost int64) string {
			return fmt.Sprintf("[A part of this conversation is missing here: %d bytes could not be read and were set aside.]", lost)
		}
	}
	c, err := s.openChat(key)
	if err != nil {
		return Repaired{}, err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	err = c.change(ctx, "repair", func(ctx context.Context) error {
		switch err := s.checkDir(c.dir); {
		case isMissing(err):
			return &undone{persistence.ErrNotFound}
		case err != nil:
			return harmless(err)
		}
		done, err = c.repair(ctx, o)
		return err
	})
	return done, err
}

// repair first quarantines everything, then repairs file by file.
func (c *chat) repair(ctx context.Context, o RepairOptions) (Repaired, error) {
	in, err := c.inspect(ctx)
	if err != nil {
		return Repaired{}, harmless(err)
	}
	done := Repaired{ChatKey: c.key, At: time.Now().UnixMilli(), Files: []RepairedFile{}}
	for i, f := range in.report.Files {
		switch {
		case f.Remedy == RemedyNone:
			done.Left = append(done.Left, f.Damage...)
		case f.Remedy != "" && in.report.Refused != "":
			return Repaired{}, &undone{fmt.Errorf("%w: %s", errRefused, in.report.Refused)}
		case f.Remedy != "":
			aside, err := c.keep(ctx, in.files[i], f)
			if err != nil {
				return Repaired{}, err
			}
			done.Files = append(done.Files, aside)
		}
	}
	if len(done.Files) == 0 {
		return done, nil
	}
	if err := c.wake(ctx); err != nil { // If this process is killed, the next host fsyncs what it finds.
		return Repaired{}, err
	}
	if err := c.noteRepair(ctx, done); err != nil {
		return Repaired{}, err
	}
	return done, c.mendFiles(ctx, in, done, o)
}

// keep copies a file and its damaged pieces to quarantine.
func (c *chat) keep(ctx context.Context, scanned *fileScan, f FileReport) (out RepairedFile, err error) {
	out = RepairedFile{File: f.File, Remedy: f.Remedy}
	if out.Backup, err = c.setAside(ctx, scanned.name, linefile.Region{N: f.Bytes}, "-whole"); err != nil {
		return out, err
	}
	for i, r := range scanned.bad {
		name, err := c.setAside(ctx, scanned.name, r, "")
		if err != nil {
			return out, err
		}
		out.Pieces = append(out.Pieces, Piece{Damage: f.Damage[i], Copy: name})
	}
	return out, nil
}

// noteRepair writes a note of the planned repair to the quarantine.
func (c *chat) noteRepair(ctx context.Context, done Repaired) error {
	raw, err := json.MarshalIndent(done, "", "  ")
	if err != nil {
		return harmless(err) // Unreachable: it is plain data.
	}
	name := path.Join(c.path(quarantineDir), fmt.Sprintf("repair-%d.json", done.At))
	if err := c.writeTemp(ctx, name, written(append(raw, '\n'))); err != nil {
		return err
	}
	c.mustSync(c.path(quarantineDir))
	return c.syncDirs(ctx)
}

func (c *chat) mendFiles(ctx context.Context, in *inspection, done Repaired, o RepairOptions) error {
	rebuild := false
	for _, f := range done.Files {
		i := slices.IndexFunc(in.report.Files, func(r FileReport) bool { return r.File == f.File })
		var mark func(dst []byte, from, to int) []byte
		switch f.Remedy {
		case RemedyRebuild:
			rebuild = true
			continue
		case RemedyMark:
			mark = c.gapMarker(in, f, o)
		case RemedyClose, RemedyNone: // files that cannot be repaired are not in the list
		}
		if err := c.closeGaps(ctx, in.files[i], mark); err != nil {
			return err
		}
	}
	if rebuild {
		if err := c.rebuildMeta(ctx, in); err != nil {
			return err
		}
	}
	for _, l := range c.logs() {
		c.store.files.Close(&l.h) // the names now refer to other files
	}
	snap, err := c.load(ctx)
	if err == nil && len(snap.Damage) > 0 {
		err = fmt.Errorf("damage is left: %+v", snap.Damage)
	}
	return err
}

// closeGaps writes a file of lines without its damage and renames it over the old one. mark, if not
// nil, makes the replacement for the pieces from one index to another.
func (c *chat) closeGaps(ctx context.Context, old *fileScan, mark func(dst []byte, from, to int) []byte) error {
	err := c.writeTemp(ctx, old.name+tempSuffix, func(w *vfs.Writer) error {
		return c.store.files.Temporary(ctx, old.name, os.O_RDONLY, func(f vfs.File) error {
			return writeMended(w, f, old, mark)
		})
	})
	if err != nil {
		return err
	}
	if err := c.store.fs.Rename(old.name+tempSuffix, old.name); err != nil {
		return err
	}
	return c.syncDir(ctx, path.Dir(old.name))
}

func writeMended(w *vfs.Writer, f io.ReaderAt, old *fileScan, mark func(dst []byte, from, to int) []byte) error {
	at := 0 // the pieces before are written
	gap := func(end int) error {
		if at == end || mark == nil {
			return nil
		}
		from := at
		at = end
		_, err := w.Write(mark(nil, from, end))
		return err
	}
	for _, r := range old.records {
		end := at
		for end < len(old.bad) && old.bad[end].Off < r.off {
			end++
		}
		if err := gap(end); err != nil {
			return err
		}
		if _, err := vfs.Copy(w, f, r.off, r.n); err != nil {
			return err
		}
		if _, err := w.Write([]byte{'\n'}); err != nil {
			return err
		}
	}
	return gap(len(old.bad))
}

// gapMarker returns a function that makes the messages for gaps of the history.
func (c *chat) gapMarker(in *inspection, f RepairedFile, o RepairOptions) func(dst []byte, from, to int) []byte {
	taken := map[string]bool{}
	for _, m := range in.snap.History {
		taken[m.ID] = true
	}
	return func(dst []byte, from, to int) []byte {
		lost, copies := int64(0), []string{}
		for _, p := range f.Pieces[from:to] {
			if p.Why != linefile.WhyTorn {
				lost += p.Bytes
				copies = append(copies, p.Copy)
			}
		}
		if len(copies) == 0 {
			return dst
		}
		id := "g:" + string(c.key) + ":" + copies[0]
		for taken[id] {
			id += "+"
		}
		taken[id] = true
		raw, err := json.Marshal(map[string]any{"bytes": lost, "quarantine": copies})
		if err != nil {
			raw = []byte("{}") // Unreachable: it is plain data.
		}
		meta := uimessage.Metadata{
			TS: time.Now().UnixMilli(), ChatKey: string(c.key), Kind: uimessage.KindGap,
			Extra: []uimessage.Member{{Name: "gap", Value: raw}},
		}
		return linefile.AppendTurn(dst, uimessage.Message{
			ID: id, Role: uimessage.RoleAssistant, Metadata: meta.Raw(),
			Parts: []uimessage.Part{uimessage.Text{Text: o.Gap(lost), State: uimessage.TextDone}},
		})
	}
}

// rebuildMeta writes a new meta file and empties its log.
func (c *chat) rebuildMeta(ctx context.Context, in *inspection) error {
	m, err := journal.RebuildMeta(in.snap, in.meta.checkpointed, in.tallies, in.archived)
	if err != nil {
		return harmless(err)
	}
	c.meta = in.meta
	place, err := c.writeMetaFile(ctx, m, in.meta.checkpointed)
	if err != nil {
		return err
	}
	if err := c.placeMeta(ctx, place); err != nil {
		return err
	}
	return c.emptyFile(ctx, c.metaLog.h.Path())
}

func (c *chat) emptyFile(ctx context.Context, name string) error {
	err := c.store.files.Temporary(ctx, name, os.O_RDWR, func(f vfs.File) error {
		if err := f.Truncate(0); err != nil {
			return err
		}
		return f.Datasync()
	})
	if isMissing(err) {
		return nil
	}
	return err
}
