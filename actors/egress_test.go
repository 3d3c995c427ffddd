package actors_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/shipmyagent/shipmyagent/actors/actortest"
	"github.com/shipmyagent/shipmyagent/adapters/model/modeltest"
	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/adapters/tool"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
	"github.com/shipmyagent/shipmyagent/persistence/storetest"
)

// byTool is a platform where answers go out through chat_send.
func byTool() *actortest.Platform {
	return &actortest.Platform{Caps: platform.Capabilities{Outbox: true, ToolEgress: true}}
}

func send(id, text string) modeltest.Call {
	in, _ := json.Marshal(map[string]any{"text": text})
	return modeltest.Call{ID: id, Name: "chat_send", Input: string(in)}
}

// A panic inside the run's own actor ends that run with a notice, and the chat continues.
func TestPanicInTheRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		script := modeltest.NewScript(modeltest.CallTools(modeltest.Call{ID: "c1", Name: "look", Input: `{}`}), modeltest.Say("fine"))
		look := actortest.Func{Says: tool.Spec{Name: "look"}}
		w := actortest.New(t, actortest.Options{
			Store: newStore(t), Model: script, Tools: actortest.Tools(look),
			Validate: func(string, json.RawMessage) error { panic("in the schema checker") },
		})
		w.Say(alice, "alice", "hi")
		w.Wait()
		w.Say(alice, "alice", "again")
		w.Wait()
		got := w.Platform.Texts(alice)
		if len(got) != 2 || !strings.Contains(got[0], "went wrong") || got[1] != "fine" {
			t.Errorf("sent %q", got)
		}
	})
}

// The record of a receipt is on the disk although its write failed: whoever waits for the row gets an answer when the
// adapter reports it again, and the chat comes to rest.
func TestST8ReceiptWrittenByAFailedWrite(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		failed := false
		store := storetest.NewFaulty(newStore(t), func(_ string, key messages.ChatKey, records []journal.Record, do func() error) error {
			err := do()
			if err == nil && !failed && slices.Contains(kinds(records), "settled") {
				failed, err = true, storetest.Broken(key, errBroken)
			}
			return err
		})
		p := byTool()
		p.Pace = func(string, string, string) { <-time.After(time.Second) }
		w := actortest.New(t, actortest.Options{
			Store: store, Platform: p, Tools: actortest.Tools(actortest.Send()), Idle: time.Minute,
			Model: modeltest.NewScript(modeltest.CallTools(send("c1", "hello")), modeltest.Say("Done."), modeltest.Say("Done.")),
		})
		w.Say(alice, "alice", "hi")
		<-time.After(10 * time.Minute)
		if n := w.Metric("sma_chats_active"); n != 0 || !failed {
			t.Errorf("%v chats are active; the write failed: %v", n, failed)
		}
		stdtest.Diff(t, "sent", []string{"hello"}, p.Texts(alice))
	})
}

// A full disk refuses the record of a row that the platform refused. The run in progress continues, and the row is
// tried and parked later.
func TestST9ParkingOnAFullDisk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		disk, gate, begun := newFaulty(newStore(t)), make(chan struct{}), 0
		p := &actortest.Platform{Caps: platform.Capabilities{Outbox: true}, Pace: func(string, string, string) { <-time.After(time.Second) }}
		p.Fail = func(_ string, n int) error {
			if n != 2 {
				return &platform.Error{Reason: platform.SendForbidden, Err: errors.New("blocked")}
			}
			return nil
		}
		look := actortest.Func{Says: tool.Spec{Name: "look"}, Do: func(ctx context.Context, _ tool.Call) (tool.Result, error) {
			begun++
			select {
			case <-gate:
			case <-ctx.Done():
				t.Error("the run in progress was ended")
			}
			return tool.Result{}, nil
		}}
		w := actortest.New(t, actortest.Options{
			Store: disk, Platform: p, Tools: actortest.Tools(look), Idle: time.Minute,
			Model: modeltest.NewScript(modeltest.Say("one"), modeltest.CallTools(modeltest.Call{ID: "c", Name: "look", Input: "{}"}), modeltest.Say("two")),
		})
		disk.set(func(f *faulty) { f.faults = []fault{{op: "settled", full: true, times: 1}} })
		w.Say(alice, "alice", "a")
		w.Say(alice, "alice", "b")
		<-time.After(2 * time.Second)
		close(gate)
		<-time.After(10 * time.Minute)
		if diff := cmp.Diff([]string{"two"}, p.Texts(alice)); diff != "" || begun != 1 {
			t.Errorf("the tool began %d times; sent (-want +got):\n%s", begun, diff)
		}
		if v := w.View(alice); v.Counts.Pending != 0 || v.Counts.Open != 0 {
			t.Errorf("at the end: %+v", v.Counts)
		}
	})
}
