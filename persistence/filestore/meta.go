package filestore

import (
	"bytes"
	"context"
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/shipmyagent/shipmyagent/persistence/filestore/internal/linefile"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
)

// The meta of a chat is a file and a log: a checkpoint adds one small line, because most of the
// meta are ingress ids that do not change. A new file is written when the log has grown, when words
// of another chat are removed, on a rewrite and when the chat rests. It contains what the log said
// up to then, so an older file with the whole log gives the same meta.

// metaLogLimit is the size of the log from which a new file is written.
const metaLogLimit = 64 << 10

// whyMeta is the damage of a meta file.
const whyMeta = "meta cannot be read"

// metaState is what is known of the meta.
type metaState struct {
	last journal.Meta
	// gen numbers the files; lines of the log with a lower number are already in the file.
	gen int64
	// checkpointed is the number up to which journal records are in history, ledger and meta. Some of
	// them may reappear if the journal's cut was not fsynced.
	checkpointed int64
	// extra are members of a newer version, written back unchanged.
	extra []byte
	// fresh is set if the file contains everything in the log.
	fresh bool
}

// metaFile are the members of the file in addition to those of Meta.
type metaFile struct {
	Gen          int64 `json:"gen"`
	Checkpointed int64 `json:"folded"`
}

// metaLine is a line of the log: the meta, with its ids as a difference.
type metaLine struct {
	metaFile
	Drop int             `json:"drop,omitempty"`
	IDs  []string        `json:"ids,omitempty"`
	Meta json.RawMessage `json:"meta"`
}

// loadMeta reads file and log. Unreadable data is treated as missing.
func (c *chat) loadMeta(ctx context.Context, snap *journal.Snapshot) error {
	c.meta = metaState{fresh: true}
	if err := c.loadMetaFile(ctx, snap); err != nil {
		return err
	}
	_, err := c.scan(ctx, c.metaLog, metaLogName, snap, readMetaLog(&c.meta))
	snap.Meta = cloneMeta(c.meta.last)
	return err
}

func (c *chat) loadMetaFile(ctx context.Context, snap *journal.Snapshot) error {
	b, err := c.store.readAll(ctx, c.path(metaName))
	if isMissing(err) {
		return nil
	}
	if err != nil {
		return err
	}
	if !c.meta.read(b) {
		r := linefile.Region{N: int64(len(b)), Why: whyMeta}
		c.reportRegion(ctx, metaName, r, snap)
		if err := c.quarantine(ctx, c.path(metaName), r); err != nil {
			c.distrust(ctx, "copy to quarantine", metaName, err)
		}
	}
	return nil
}

// read parses the members of a meta file.
func (s *metaState) read(b []byte) bool {
	object, intact := linefile.Object(bytes.TrimSpace(b))
	if !intact {
		return false
	}
	var file metaFile
	m, extra, ok := parseMeta(object)
	if !ok || json.Unmarshal(object, &file) != nil {
		s.last.Version = newerMeta(object) // enough for a refusal
		return s.last.Version > 0
	}
	s.last, s.extra, s.gen, s.checkpointed = m, extra, file.Gen, file.Checkpointed
	return true
}

// newerMeta is the version of a meta that this program does not support, or 0.
func newerMeta(object []byte) int {
	var head struct {
		Version int `json:"v"`
	}
	if json.Unmarshal(object, &head) != nil || head.Version <= journal.MetaVersion {
		return 0
	}
	return head.Version
}

// take applies a line of the log. Lines of earlier files change nothing.
func (s *metaState) take(raw []byte, strict bool) bool {
	var l metaLine
	if object, ok := linefile.Unseal(raw, strict); !ok || json.Unmarshal(object, &l) != nil {
		return false
	}
	m, extra, ok := parseMeta(l.Meta)
	if !ok {
		return false
	}
	if l.Gen < s.gen {
		return true
	}
	m.IngressIDs = slices.Concat(s.last.IngressIDs[min(max(l.Drop, 0), len(s.last.IngressIDs)):], l.IDs)
	s.last, s.extra, s.gen, s.checkpointed, s.fresh = m, extra, l.Gen, l.Checkpointed, false
	return true
}

// parseMeta reads the members of a meta, and separately the unknown ones in the form in which they
// are appended to an unclosed object.
func parseMeta(object []byte) (m journal.Meta, extra []byte, ok bool) {
	var all map[string]json.RawMessage
	if json.Unmarshal(object, &m) != nil || json.Unmarshal(object, &all) != nil || all == nil {
		return journal.Meta{}, nil, false
	}
	for _, t := range []reflect.Type{reflect.TypeFor[journal.Meta](), reflect.TypeFor[metaFile]()} {
		for field := range t.Fields() {
			name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
			delete(all, name)
		}
	}
	delete(all, "sum")
	if len(all) == 0 {
		return m, nil, true
	}
	rest, err := json.Marshal(all)
	if err != nil {
		return m, nil, false // Unreachable: the members were just read
	}
	return m, append([]byte{','}, rest[1:len(rest)-1]...), true
}

// appendMeta appends a meta as JSON, with the members of a newer version.
func (s *metaState) appendMeta(dst []byte, m journal.Meta) ([]byte, error) {
	body, err := json.Marshal(m)
	if err != nil {
		return nil, err
	}
	dst = append(dst, body[:len(body)-1]...)
	dst = append(dst, s.extra...)
	return append(dst, '}'), nil
}

// logLine appends the line of the log that leads to the meta m, and reports whether a line can.
func (s *metaState) logLine(dst []byte, m journal.Meta, checkpointed int64) ([]byte, bool) {
	drop, ok := shifted(s.last.IngressIDs, m.IngressIDs)
	if !ok {
		return dst, false
	}
	l := metaLine{metaFile: metaFile{Gen: s.gen, Checkpointed: checkpointed}, Drop: drop, IDs: m.IngressIDs[len(s.last.IngressIDs)-drop:]}
	m.IngressIDs = nil
	raw, err := s.appendMeta(nil, m)
	if err != nil {
		return dst, false
	}
	l.Meta = raw
	body, err := json.Marshal(l)
	if err != nil {
		return dst, false
	}
	return linefile.AppendSealed(dst, func(b []byte) []byte { return append(b, body...) }), true
}

// shifted returns how many members have to be dropped from the start of old to get the start of
// list.
func shifted(old, list []string) (drop int, ok bool) {
	switch {
	case len(old) == 0:
		return 0, true
	case len(list) == 0:
		return len(old), true
	}
	drop = slices.Index(old, list[0])
	if drop < 0 {
		drop = len(old)
	}
	kept := old[drop:]
	return drop, len(kept) <= len(list) && slices.Equal(kept, list[:len(kept)])
}

// writeMetaFile writes and fsyncs a temporary file with the meta, and returns the function that
// renames it.
func (c *chat) writeMetaFile(ctx context.Context, m journal.Meta, checkpointed int64) (place func() error, err error) {
	body, err := json.Marshal(m)
	if err != nil {
		return nil, harmless(err)
	}
	file := metaFile{Gen: c.meta.gen + 1, Checkpointed: checkpointed}
	tail, err := json.Marshal(file)
	if err != nil {
		return nil, harmless(err)
	}
	name := c.path(metaName)
	line := linefile.AppendSealed(nil, func(b []byte) []byte {
		b = append(b, body[:len(body)-1]...)
		b = append(b, c.meta.extra...)
		return append(append(b, ','), tail[1:]...)
	})
	if err := c.writeTemp(ctx, name+tempSuffix, written(line)); err != nil {
		return nil, err
	}
	return func() error {
		if err := c.store.fs.Rename(name+tempSuffix, name); err != nil {
			return err
		}
		c.meta.keep(m)
		c.meta.gen, c.meta.checkpointed, c.meta.fresh = file.Gen, checkpointed, true
		c.mustSync(c.path(messagesDir))
		return nil
	}, nil
}

// placeMeta renames a new meta file to its place, durably.
func (c *chat) placeMeta(ctx context.Context, place func() error) error {
	if err := place(); err != nil {
		return err
	}
	return c.syncDirs(ctx)
}

// keep remembers a meta as the last one.
func (s *metaState) keep(m journal.Meta) {
	ids := append(s.last.IngressIDs[:0], m.IngressIDs...)
	m.IngressIDs = nil
	s.last = cloneMeta(m)
	s.last.IngressIDs = ids
}

// restMeta writes a file with the whole meta, for readers that do not read the log. It is optional.
func (c *chat) restMeta(ctx context.Context) {
	if !c.loaded || c.meta.fresh || c.broken != nil {
		return
	}
	place, err := c.writeMetaFile(ctx, c.meta.last, c.meta.checkpointed)
	if err == nil {
		err = place()
	}
	if err != nil {
		c.store.log.WarnContext(ctx, "the meta file of a chat could not be written", "chat_key", c.key, "error", err)
	}
}

func cloneMeta(m journal.Meta) journal.Meta {
	m.IngressIDs, m.Pinned = slices.Clone(m.IngressIDs), slices.Clone(m.Pinned)
	m.Counts.Fates, m.Counts.Egress = maps.Clone(m.Counts.Fates), maps.Clone(m.Counts.Egress)
	return m
}

// readMetaLog reads the log of a meta file that was already read.
func readMetaLog(s *metaState) linefile.Reader {
	file := *s
	return linefile.Reader{
		Take:  func(_ int64, raw []byte, strict bool) bool { return s.take(raw, strict) },
		Reset: func() { *s = file },
	}
}
