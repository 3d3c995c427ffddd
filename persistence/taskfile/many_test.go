package taskfile

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/shipmyagent/shipmyagent/messages/stdtest"
	"github.com/shipmyagent/shipmyagent/persistence/timetable"
)

// Tasks that are done take no place of those that run, and a task beyond the limit is reported.
func TestManyTasks(t *testing.T) {
	t.Parallel()
	state := t.TempDir()
	s := New(state, time.UTC)
	stdtest.Must(t, os.MkdirAll(s.Dir(), 0o700))
	put := func(id string, status timetable.Status) {
		raw := fmt.Sprintf("---\ntitle: r\nwhen: \"2026-01-01T09:00:00Z\"\nchatKey: telegram-chat-7\nstatus: %s\nsay: hi\n---\n", status)
		stdtest.Must(t, os.WriteFile(filepath.Join(s.Dir(), id+".md"), []byte(raw), 0o600))
	}
	for i := range maxTasks {
		put(fmt.Sprintf("done-%05d", i), timetable.Done)
	}
	put("weekly", timetable.Active)
	tasks, problems, err := s.Tasks(t.Context())
	if err != nil || len(problems) > 0 || !slices.ContainsFunc(tasks, func(x timetable.Task) bool { return x.ID == "weekly" }) {
		t.Fatalf("%d tasks without the active one, problems %v, %v", len(tasks), problems, err)
	}
	for i := range maxTasks {
		put(fmt.Sprintf("done-%05d", i), timetable.Active)
	}
	tasks, problems, err = s.Tasks(t.Context())
	if err != nil || len(tasks) != maxTasks || len(problems) != 1 || problems[0].Path != s.Path("weekly") {
		t.Errorf("got %d tasks, problems %v, %v; want %d, and a problem with the last", len(tasks), problems, err, maxTasks)
	}
}
