package skilllock

import (
	"path/filepath"
	"testing"

	"github.com/shipmyagent/shipmyagent/messages/stdtest"
	"github.com/shipmyagent/shipmyagent/persistence/document"
	"github.com/shipmyagent/shipmyagent/persistence/document/documenttest"
)

func TestST19EveryStepOfAnAgreementFails(t *testing.T) {
	approve := func(digest string) func(document.Disk, string) error {
		return func(disk document.Disk, state string) error {
			s := New(state)
			s.doc.Disk = disk
			return s.ApproveSkill(t.Context(), approval("a", digest))
		}
	}
	look := func(state string) (string, error) {
		list, err := New(state).SkillApprovals(t.Context())
		if len(list) == 0 {
			return "", err
		}
		return list[0].Digest, err
	}
	documenttest.EachChange(t, documenttest.Case{Prepare: approve("1"), Change: approve("2"), Look: look, Old: "1", New: "2"}, "")
}

func TestTheFolderIsForced(t *testing.T) {
	state := filepath.Join(t.TempDir(), "state")
	s := New(state)
	var r documenttest.Recorder
	s.doc.Disk = r.Disk()
	stdtest.Must(t, s.ApproveSkill(t.Context(), approval("a", "1")))
	r.Fsynced(t, state)
}
