package host

import (
	"context"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/shipmyagent/shipmyagent/messages/stdtest"
	"github.com/shipmyagent/shipmyagent/persistence/filestore"
)

// Requests of a friend's chat and its tasks are shown in the owner's chat. When the friend's chat is deleted, those
// requests end there, and none of their text is left, neither in the owner's chat nor in names that were made of a
// task's title.
func TestForgetReachesWhereRequestsAreShown(t *testing.T) {
	s := newScene(t)
	script := strings.ReplaceAll(`
set access paired
set permissions.exec.approvers ["owner"]
chat 2 private
write plain.txt nothing
model text hello bob
model call memory_upsert {"scope":"chat","text":"SECRET one."}
model text done SECRET
model call exec_shell {"command":"cat plain.txt","why":"SECRET"}
model text ran SECRET
model call task_create {"title":"SECRET","cron":"0 9 * * *","say":"SECRET"}
model text reminds
model call task_create {"title":"SECRET task","delay":"1s","instructions":"SECRET"}
model text planned
model call memory_upsert {"scope":"chat","text":"SECRET fire."}
model call memory_upsert {"scope":"project","text":"SECRET open."}
pair ann 1
say bob 2 hi
press ann in:1 Let in
send bob 2 document SECRET.txt SECRET caption
say ann 1 yes
send bob 2 photo SECRET-30x20.jpg SECRET run it
press ann in:1 ✅
say bob 2 remind me SECRET
say bob 2 do it later
say ann 1 yes
await sendMessage 19
say bob 2 open request
say ann 1 /approvals
restart
say ann 1 /approvals
say bob 2 /forget
press bob in:2 Delete
say ann 1 /approvals`, "SECRET", secretWord)
	s.play(script)
	calls := s.showCalls(script)
	if got := strings.Count(calls, "⏹]"); got != 2 {
		t.Errorf("%d messages show that their request is over, want 2:\n%s", got, calls)
	}
	if all := s.sent(); all[len(all)-1].text != "Nothing is waiting for your decision." {
		t.Errorf("the owner's list says %q", all[len(all)-1].text)
	}
	s.stop()
	s.h = nil
	if found := withSecret(t, filepath.Join(s.p.dir, ".ship")); len(found) > 0 {
		t.Errorf("the canary is in %q", found)
	}
}

// A chat that is deleted while no host runs: the next start withdraws its requests where
// they are shown.
func TestForgetWhileStoppedEndsRequestsElsewhere(t *testing.T) {
	s := newScene(t)
	s.play(strings.ReplaceAll(`
set access open
set permissions.exec.approvers ["telegram-1"]
chat 2 private
model text Hi.
model call memory_upsert {"scope":"chat","text":"SECRET"}
say ann 1 hi
say bob 2 remember SECRET
await sendMessage 3
say ann 1 /approvals`, "SECRET", secretWord))
	s.stop()
	state := filepath.Join(s.p.dir, ".ship")
	store, err := filestore.Open(filestore.Options{Dir: state})
	stdtest.Must(t, err)
	err = forgetStopped(t, state, store, "telegram-chat-2")
	if closed := store.Close(); err != nil || closed != nil {
		t.Fatal(err, closed)
	}
	s.h = nil
	s.begin()
	s.p.api.Await(t, "the outcome in the place of the buttons", func() bool { return len(s.answered("editMessageReplyMarkup")) > 0 })
	awaitNoSecret(t, state) // the other chat checkpoints once it has recorded that its buttons are gone
	s.stop()
	s.h = nil
	if found := withSecret(t, state); len(found) > 0 {
		t.Errorf("the canary is in %q", found)
	}
}

// awaitNoSecret waits until no file below a folder has the canary, or for half a minute.
func awaitNoSecret(t *testing.T, dir string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for len(withSecret(t, dir)) > 0 {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}
