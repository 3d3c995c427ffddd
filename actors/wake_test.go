package actors_test

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shipmyagent/shipmyagent/actors/actortest"
	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/persistence/filestore"
	"github.com/shipmyagent/shipmyagent/persistence/filestore/filestoretest"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
)

// openDisk opens the store of a disk, as the next process does.
func openDisk(t *testing.T, d *filestoretest.Disk) *filestore.Store {
	t.Helper()
	s, err := filestoretest.Open(d, filestore.Options{Logger: slog.New(slog.DiscardHandler)})
	stdtest.Must(t, err)
	return s
}

// A process is killed while it rewinds a chat that was at rest, before the new name of the history is durable. What the
// next process accepts then survives a power cut.
func TestRewindOfAChatAtRestIsKilled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		key, ctx := messages.NewChatKey("telegram", "", "1", 0), context.Background()
		disk := filestoretest.NewDisk()
		w := actortest.New(t, actortest.Options{Store: openDisk(t, disk), Model: slow{}, Idle: time.Minute})
		w.Say(key, "alice", "hello")
		<-time.After(5 * time.Minute)
		var killed *filestoretest.Disk
		disk.After(func(op filestoretest.Op) {
			if op.Kind == filestoretest.OpRename && strings.Contains(op.Name, "history.jsonl") {
				killed = disk.Kill()
			}
		})
		if _, err := w.System.Root.RequestFuture(w.Router, messages.RewindChat{ChatKey: key}, time.Minute).Result(); err != nil || killed == nil {
			t.Fatalf("the chat was not rewound: %v", err)
		}
		disk.After(nil)
		w = w.Again(func(o *actortest.Options) { o.Store = openDisk(t, killed) })
		w.Say(key, "alice", "again")
		for d := range killed.CrashStates(64, 1) {
			c, err := openDisk(t, d).OpenChat(ctx, key)
			stdtest.Must(t, err)
			snap, err := c.Load(ctx)
			stdtest.Must(t, err)
			if !slices.ContainsFunc(snap.History, func(m uimessage.Message) bool { return journal.Text(m) == "again" }) {
				t.Fatal("a message that was accepted is lost")
			}
		}
	})
}

// The process is killed while a new chat records that its first message made it panic. What the next process accepts
// then survives a power cut.
func TestCrashFactOfANewChatIsKilled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		key, ctx := messages.NewChatKey("telegram", "", "1", 0), context.Background()
		disk := filestoretest.NewDisk()
		o := actortest.Options{Store: openDisk(t, disk), Model: slow{}}
		var sick panics
		sick.set("ingress", "open", 1)
		o.Chat.GroupContext = sick.quotes(0)
		w := actortest.New(t, o)
		var killed *filestoretest.Disk
		disk.After(func(op filestoretest.Op) {
			if op.Kind == filestoretest.OpWrite && strings.Contains(op.Name, "journal.jsonl") {
				killed = disk.Kill()
			}
		})
		w.Port.Accept(ctx, []platform.Inbound{w.Inbound(key, "alice", "hello")})
		w.Wait()
		if disk.After(nil); killed == nil {
			t.Fatal("the panic was not recorded")
		}
		w = w.Again(func(o *actortest.Options) { o.Store = openDisk(t, killed) })
		w.Say(key, "alice", "again")
		for d := range killed.CrashStates(64, 1) {
			c, err := openDisk(t, d).OpenChat(ctx, key)
			stdtest.Must(t, err)
			snap, err := c.Load(ctx)
			stdtest.Must(t, err)
			state, err := journal.Replay(snap)
			stdtest.Must(t, err)
			if !slices.ContainsFunc(state.History, func(m journal.Turn) bool { return journal.Text(m.Message) == "again" }) {
				t.Fatal("a message that was accepted is lost")
			}
		}
	})
}
