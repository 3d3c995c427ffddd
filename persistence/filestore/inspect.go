package filestore

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/persistence/filestore/internal/linefile"
	"github.com/shipmyagent/shipmyagent/persistence/filestore/internal/vfs"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
)

// inspection reads all files of a chat and changes none.
type inspection struct {
	chat   *chat
	ended  bool // the writer may have been killed, see [linefile.ScanEnded]
	report Report
	files  []*fileScan // in the order of the report

	// Needed to rebuild the meta.
	snap     journal.Snapshot
	meta     metaState
	tallies  []journal.Tally
	archived []uimessage.Message
}

// fileScan is the result of reading a file of lines.
type fileScan struct {
	name    string // full path
	records []extent
	bad     []linefile.Region // including the torn tail, in the order of the file
}

type extent struct{ off, n int64 }

// inspect reads the files in the order that a replay needs.
func (c *chat) inspect(ctx context.Context) (*inspection, error) {
	if err := c.checkFolders(); err != nil {
		return nil, err
	}
	marker, _ := c.marker()
	_, unmarked := c.store.fs.Lstat(marker)
	in := &inspection{chat: c, ended: unmarked == nil, meta: metaState{fresh: true}, report: Report{ChatKey: c.key, Files: []FileReport{}}}
	for _, step := range []func(context.Context) error{in.readMeta, in.readHistory, in.readJournal, in.readLedger, in.readArchives} {
		if err := step(ctx); err != nil {
			return nil, err
		}
	}
	in.report.Turns, in.report.Waiting = len(in.snap.History), len(in.snap.Journal)
	if n := len(in.snap.Journal); n > 0 && in.snap.Journal[0].N <= in.snap.LedgerN {
		in.snap.LedgerN--
	}
	if _, err := journal.Replay(in.snap); err != nil {
		in.report.Refused = err.Error()
	}
	return in, nil
}

// lines reads one file of lines. A missing file is left out of the report.
func (in *inspection) lines(ctx context.Context, name string, remedy Remedy, r linefile.Reader) error {
	scanned := &fileScan{name: name}
	noting := linefile.Reader{Take: func(off int64, raw []byte, strict bool) bool {
		ok := r.Take(off, raw, strict)
		if ok {
			scanned.records = append(scanned.records, extent{off, int64(len(raw))})
		}
		return ok
	}}
	if r.Reset != nil {
		noting.Reset = func() {
			scanned.records = nil
			r.Reset()
		}
	}
	var size int64
	err := in.chat.store.files.Temporary(ctx, name, os.O_RDONLY, func(f vfs.File) (err error) {
		if size, err = f.Size(); err != nil {
			return err
		}
		found, err := linefile.ScanFile(f, size, in.ended, noting)
		scanned.bad = found.Bad
		if found.Torn.N > 0 {
			scanned.bad = append(scanned.bad, found.Torn)
		}
		return err
	})
	if isMissing(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read %s: %w", in.below(name), err)
	}
	in.add(scanned, size, remedy)
	return nil
}

// below is a file's path relative to the chat's folder.
func (in *inspection) below(name string) string { return strings.TrimPrefix(name, in.chat.dir+"/") }

func (in *inspection) add(scanned *fileScan, size int64, remedy Remedy) {
	f := FileReport{File: in.below(scanned.name), Bytes: size, Records: len(scanned.records)}
	for _, r := range scanned.bad {
		f.Damage = append(f.Damage, journal.Damage{File: f.File, Offset: r.Off, Bytes: r.N, Why: r.Why})
	}
	if len(f.Damage) > 0 {
		f.Remedy = remedy
	}
	in.files = append(in.files, scanned)
	in.report.Files = append(in.report.Files, f)
}

// small adds a file that is one document; why is empty if it is intact.
func (in *inspection) small(name string, size int, why string, remedy Remedy) {
	scanned := &fileScan{name: name}
	if why != "" {
		scanned.bad = []linefile.Region{{N: int64(size), Why: why}}
	} else {
		scanned.records = []extent{{0, int64(size)}}
	}
	in.add(scanned, int64(size), remedy)
}

func (in *inspection) readMeta(ctx context.Context) error {
	name := in.chat.path(metaName)
	b, err := in.chat.store.readAll(ctx, name)
	switch {
	case err == nil:
		why := ""
		if !in.meta.read(b) {
			why = whyMeta
		}
		in.small(name, len(b), why, RemedyRebuild)
	case !isMissing(err):
		return fmt.Errorf("read %s: %w", metaName, err)
	}
	err = in.lines(ctx, in.chat.path(metaLogName), RemedyRebuild, readMetaLog(&in.meta))
	in.snap.Meta = cloneMeta(in.meta.last)
	return err
}

func (in *inspection) readHistory(ctx context.Context) error {
	return in.lines(ctx, in.chat.path(historyName), RemedyMark, readHistory(&in.snap.History, &index{}))
}

func (in *inspection) readJournal(ctx context.Context) error {
	return in.lines(ctx, in.chat.path(journalName), RemedyClose, readJournal(&in.snap.Journal, new(int64), in.meta.checkpointed))
}

func (in *inspection) readLedger(ctx context.Context) error {
	names, err := in.chat.rotated(ctx)
	if err != nil {
		return err
	}
	take := func(_ int64, raw []byte, strict bool) bool {
		e, ok := linefile.ParseEntry(raw, strict)
		if ok {
			in.tallies = append(in.tallies, journal.Tally{N: e.N, Dir: e.Dir, Fate: e.Fate})
			in.snap.LedgerN = max(in.snap.LedgerN, e.N)
		}
		return ok
	}
	for _, name := range names {
		if err := in.lines(ctx, name, RemedyClose, linefile.Reader{Take: take}); err != nil {
			return err
		}
	}
	before, n := len(in.tallies), in.snap.LedgerN
	return in.lines(ctx, in.chat.ledger.h.Path(), RemedyClose, linefile.Reader{Take: take, Reset: func() {
		in.tallies, in.snap.LedgerN = in.tallies[:before], n
	}})
}

// readArchives checks each line in each archive, and each context.
func (in *inspection) readArchives(ctx context.Context) error {
	if err := in.readFolder(ctx, archiveDir, in.archive); err != nil {
		return err
	}
	return in.readFolder(ctx, contextsDir, in.context)
}

// readFolder checks the files of a folder with immutable files.
func (in *inspection) readFolder(ctx context.Context, folder string, check func([]byte) string) error {
	entries, err := in.chat.store.list(ctx, in.chat.path(folder))
	if err != nil {
		return fmt.Errorf("list archives: %w", err)
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return cmp.Compare(a.Name(), b.Name()) })
	for _, e := range entries {
		if e.IsDir() || path.Ext(e.Name()) != ".json" {
			continue
		}
		name := path.Join(in.chat.path(folder), e.Name())
		b, err := in.chat.store.readAll(ctx, name)
		if isMissing(err) {
			continue
		}
		if err != nil {
			return fmt.Errorf("read %s: %w", in.below(name), err)
		}
		in.small(name, len(b), check(b), RemedyNone)
	}
	return nil
}

// archive says what is wrong with an archive, and collects the turns of an intact one.
func (in *inspection) archive(b []byte) (why string) {
	var a journal.Archive
	if err := json.Unmarshal(b, &a); err != nil {
		return "archive cannot be read"
	}
	turns := make([]uimessage.Message, len(a.Lines))
	for i, line := range a.Lines {
		m, ok := linefile.ParseTurn([]byte(line), false)
		if !ok {
			return fmt.Sprintf("archived line %d is damaged", i+1)
		}
		turns[i] = m
	}
	in.archived = append(in.archived, turns...)
	return ""
}

// context says what is wrong with a context, and collects the turns of an intact one.
func (in *inspection) context(b []byte) (why string) {
	var c journal.Context
	if err := json.Unmarshal(b, &c); err != nil || !messages.ValidContextID(c.ID) {
		return "context cannot be read"
	}
	in.archived = append(in.archived, c.Messages...)
	return ""
}

// Inspector reads chats below a folder and changes nothing: it makes no folders, takes no lock and
// quarantines nothing. A host may use the folder at the same time. It is safe for concurrent use.
type Inspector struct{ store *Store }

// Inspect makes an inspector of a store's folder. The folder may be missing, but must not be a
// symbolic link.
func Inspect(o Options) (*Inspector, error) {
	s, err := newStore(o)
	if err != nil {
		return nil, err
	}
	for _, dir := range []string{s.dir, path.Join(s.dir, chatsDir)} {
		if err := s.checkDir(dir); err != nil && !isMissing(err) {
			return nil, fmt.Errorf("inspect %s: %w", s.dir, err)
		}
	}
	return &Inspector{s}, nil
}
