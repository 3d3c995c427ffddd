package journal

import (
	"testing"

	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

// A choice is read from the journal, from the meta file and from a record of a version that knew no efforts. A record
// that the meta file already covers does not undo a later choice.
func TestChoiceIsReplayed(t *testing.T) {
	for _, tt := range []struct {
		name          string
		meta          Meta
		records       []string
		model, effort string
	}{
		{"none", Meta{}, nil, "", ""},
		{"an older record", Meta{}, []string{`{"n":1,"ts":1,"kind":"model","model":"deep"}`}, "deep", ""},
		{"with an effort", Meta{}, []string{`{"n":1,"ts":1,"kind":"model","model":"deep","effort":"high"}`}, "deep", "high"},
		{"back to the settings", Meta{}, []string{`{"n":1,"ts":1,"kind":"model","model":"deep","effort":"high"}`, `{"n":2,"ts":1,"kind":"model"}`}, "", ""},
		{"of the meta file", Meta{N: 2, Model: "deep", Effort: "low"}, []string{`{"n":1,"ts":1,"kind":"model","effort":"high"}`}, "deep", "low"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.meta.Version = MetaVersion
			snap := Snapshot{Meta: tt.meta}
			for _, line := range tt.records {
				r, err := ParseRecord([]byte(line))
				stdtest.Must(t, err)
				snap.Journal = append(snap.Journal, r)
			}
			s, err := Replay(snap)
			stdtest.Must(t, err)
			if m := s.Meta(); s.Model != tt.model || s.Effort != tt.effort || m.Model != tt.model || m.Effort != tt.effort {
				t.Errorf("chosen %q %q, in the meta file %q %q, want %q %q", s.Model, s.Effort, m.Model, m.Effort, tt.model, tt.effort)
			}
		})
	}
}
