package skilllock

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/shipmyagent/shipmyagent/messages/stdtest"
	"github.com/shipmyagent/shipmyagent/persistence"
)

func approval(name, digest string) persistence.SkillApproval {
	return persistence.SkillApproval{Name: name, Digest: digest, Folder: ".ship/skills/" + name, At: time.Date(2026, 7, 1, 8, 0, 0, 0, time.UTC), Where: "cli-chat-x"}
}

func TestApproveAndForget(t *testing.T) {
	state := filepath.Join(t.TempDir(), ".ship")
	s := New(state)
	if list, err := s.SkillApprovals(t.Context()); err != nil || len(list) != 0 {
		t.Fatalf("before the first: %v, %v", list, err)
	}
	if gone, err := s.ForgetSkill(t.Context(), "pdf"); err != nil || gone {
		t.Errorf("forgot what nobody agreed to: %v, %v", gone, err)
	}
	for _, a := range []persistence.SkillApproval{approval("pdf", "sha256:1"), approval("art", "sha256:2"), approval("pdf", "sha256:3")} {
		stdtest.Must(t, s.ApproveSkill(t.Context(), a))
	}
	list, err := New(state).SkillApprovals(t.Context())
	if diff := cmp.Diff([]persistence.SkillApproval{approval("art", "sha256:2"), approval("pdf", "sha256:3")}, list); err != nil || diff != "" {
		t.Errorf("approvals, error %v (-want +got):\n%s", err, diff)
	}
	raw, err := os.ReadFile(s.Path())
	if err != nil || !strings.Contains(string(raw), "\n    {\n      \"name\": \"art\",\n      \"digest\": \"sha256:2\",\n") {
		t.Errorf("file %s, %v", raw, err)
	}
	if info, err := os.Stat(s.Path()); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	if gone, err := s.ForgetSkill(t.Context(), "pdf"); err != nil || !gone {
		t.Errorf("forget: %v, %v", gone, err)
	}
	if list, err := s.SkillApprovals(t.Context()); err != nil || len(list) != 1 || list[0].Name != "art" {
		t.Errorf("after it: %v, %v", list, err)
	}
	entries, err := os.ReadDir(state)
	if err != nil || len(entries) != 2 {
		t.Errorf("files %v, %v, want the file and its lock", entries, err)
	}
}

func TestUnreadableCountsAsNothing(t *testing.T) {
	for name, text := range map[string]string{
		"empty": "", "cut": `{"v":1,"skills":[{"name":"a"`, "a newer version": `{"v":2,"skills":[]}`, "no version": `{}`, "no name": `{"v":1,"skills":[{"digest":"x"}]}`,
		"no digest": `{"v":1,"skills":[{"name":"a"}]}`, "twice": `{"v":1,"skills":[{"name":"a","digest":"x"},{"name":"a","digest":"y"}]}`, "a list": `[]`,
	} {
		t.Run(name, func(t *testing.T) {
			s := New(t.TempDir())
			stdtest.Must(t, os.WriteFile(s.Path(), []byte(text), 0o600))
			list, err := s.SkillApprovals(t.Context())
			if !errors.Is(err, persistence.ErrSkillLock) || len(list) != 0 || !strings.Contains(err.Error(), "repair the file or remove it") {
				t.Errorf("%v, %v", list, err)
			}
			if err := s.ApproveSkill(t.Context(), approval("a", "z")); !errors.Is(err, persistence.ErrSkillLock) {
				t.Errorf("approve: %v", err)
			}
			if raw, err := os.ReadFile(s.Path()); err != nil || string(raw) != text {
				t.Errorf("the file became %q, %v", raw, err)
			}
		})
	}
}

// Several processes change the file at once, and none loses what another wrote.
func TestManyWriters(t *testing.T) {
	state := t.TempDir()
	const writers, each = 4, 10
	var all sync.WaitGroup
	for w := range writers {
		all.Go(func() {
			s := New(state) // as another process would
			for i := range each {
				if err := s.ApproveSkill(t.Context(), approval(fmt.Sprintf("s%d-%d", w, i), "sha256:x")); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	if list, err := New(state).SkillApprovals(t.Context()); err != nil || len(list) != writers*each {
		t.Errorf("%d approvals, %v, want %d", len(list), err, writers*each)
	}
}
