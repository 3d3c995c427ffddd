package memory

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/persistence"
	"github.com/shipmyagent/shipmyagent/persistence/memories"
)

// shelf has archives by name, each in the notation of turns below.
type shelf struct {
	lists map[string]string
	seqs  map[string]int64
	read  []string
	err   error
}

// turns parses a list like "s1>b a1| u2": a summary that names archive b, and so on.
func (s *shelf) turns(list string) []messages.CompactTurn {
	var out []messages.CompactTurn
	for word := range strings.FieldsSeq(list) {
		name, archive, _ := strings.Cut(word, ">")
		archive, to, _ := strings.Cut(archive, "=")
		t := turn(name, s.seqs[strings.TrimSuffix(name, "|")])
		if t.Summary {
			t.Ends, t.Range.ToID = true, to
			t.Message.Metadata = fmt.Appendf(nil, `{"kind":"summary","sourceRange":{"fromId":"x","toId":%q,"count":2},"archive":%q}`, to, archive)
		}
		out = append(out, t)
	}
	return out
}

func (s *shelf) ReadArchive(_ context.Context, _ messages.ChatKey, id string) (out []uimessage.Message, err error) {
	s.read = append(s.read, id)
	list, ok := s.lists[id]
	if !ok {
		return nil, errors.Join(s.err, persistence.ErrNotFound)
	}
	for _, t := range s.turns(list) {
		t.Message.ID = strings.TrimSuffix(t.Message.ID, "|")
		if t.Ends && !t.Summary {
			meta := uimessage.Metadata{Seq: s.seqs[t.Message.ID], RunID: "r", Kind: uimessage.KindNormal}
			t.Message.Metadata = meta.Raw()
		}
		out = append(out, t.Message)
	}
	return out, s.err
}

// Turns that were compacted before they were read are read from the archives, back to the mark and
// no further.
func TestArchivedTurnsAreRead(t *testing.T) {
	seqs := map[string]int64{}
	for i := range 9 {
		seqs[fmt.Sprintf("u%d", i)], seqs[fmt.Sprintf("a%d", i)] = int64(2*i-1), int64(2*i)
	}
	lists := map[string]string{"one": "u1 a1| u2 a2|", "two": "s2>one=a2 u3 a3|", "three": "s3>two=a3 u4 a4|"}
	mark := func(id string) memories.Mark { return memories.Mark{TurnID: id, Seq: seqs[id]} }
	const now = "s4>three=a4 u5 a5| u6 a6|"
	tests := []struct {
		name, turns string
		mark        memories.Mark
		want, read  string
	}{
		{"nothing was ever read", now, memories.Mark{}, "u1 a1 u2 a2 u3 a3 u4 a4 u5 a5 u6 a6", "three two one"},
		{"two archives back", now, mark("a2"), "u3 a3 u4 a4 u5 a5 u6 a6", "three two"},
		{"amid an archive", now, mark("a1"), "u2 a2 u3 a3 u4 a4 u5 a5 u6 a6", "three two one"},
		{"one archive back", now, mark("a3"), "u4 a4 u5 a5 u6 a6", "three"},
		{"as far as was compacted", now, mark("a4"), "u5 a5 u6 a6", ""},
		{"in the history", now, mark("a5"), "u6 a6", ""},
		{"a turn that is nowhere", now, memories.Mark{TurnID: "rewound", Seq: seqs["a4"]}, "u5 a5 u6 a6", "three"},
		{"no summary", "u1 a1| u2 a2|", mark("a1"), "u2 a2", ""},
		{"a lost archive", "s4>gone=a4 u5 a5|", mark("a1"), "u5 a5", "gone"},
		{"none was kept", "s4>=a4 u5 a5|", mark("a1"), "u5 a5", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := &shelf{lists: lists, seqs: seqs}
			turns, err := withArchived(t.Context(), s, "cli-chat-a", s.turns(tt.turns), tt.mark)
			stdtest.Must(t, err)
			for i := range turns { // the test store does not know which answer ends a run
				turns[i].Ends = turns[i].Ends || turns[i].Message.ID[0] == 'a'
			}
			var got []string
			for _, read := range newWork(turns, tt.mark, time.UTC).turns {
				got = append(got, strings.TrimSuffix(read.ID, "|"))
			}
			if diff := cmp.Diff(tt.want, strings.Join(got, " ")); diff != "" || strings.Join(s.read, " ") != tt.read {
				t.Errorf("archives %q, want %q; turns (-want +got):\n%s", s.read, tt.read, diff)
			}
		})
	}
}

// A store that fails makes the extraction fail: no turn may be skipped.
func TestArchiveThatCannotBeRead(t *testing.T) {
	s := &shelf{lists: map[string]string{"one": "u1 a1|"}, err: errors.New("input/output error")}
	if _, err := withArchived(t.Context(), s, "cli-chat-a", s.turns("s2>one=a1 u2 a2|"), memories.Mark{}); !errors.Is(err, s.err) {
		t.Errorf("error = %v, want that of the store", err)
	}
}

// Archives too far back are not read: a chat that was compacted a thousand times is not read
// completely.
func TestArchivesAreBounded(t *testing.T) {
	lists, seqs := map[string]string{}, map[string]int64{}
	for i := range 100 {
		lists[fmt.Sprint(i+1)] = fmt.Sprintf("s%d>%d=a%d u%d a%d|", i, i, i-1, i, i)
		seqs[fmt.Sprintf("u%d", i)], seqs[fmt.Sprintf("a%d", i)] = int64(2*i+1), int64(2*i+2)
	}
	s := &shelf{lists: lists, seqs: seqs}
	turns, err := withArchived(t.Context(), s, "cli-chat-a", s.turns("s100>100=a99 u100 a100|"), memories.Mark{})
	if err != nil || len(s.read) != maxBack || len(turns) != 3*maxBack+3 {
		t.Errorf("%d archives and %d turns, %v; want %d archives", len(s.read), len(turns), err, maxBack)
	}
}
