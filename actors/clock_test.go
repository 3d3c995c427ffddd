package actors_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shipmyagent/shipmyagent/actors/actortest"
	"github.com/shipmyagent/shipmyagent/adapters/model"
	"github.com/shipmyagent/shipmyagent/adapters/model/modeltest"
	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/adapters/tool"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/modelmessage"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/persistence/filestore"
	"github.com/shipmyagent/shipmyagent/persistence/filestore/filestoretest"
)

// clocked is a host whose wall clock may differ after a restart: every bubble begins at the same midnight, but the disk
// is kept.
type clocked struct {
	disk *filestoretest.Disk
	done int // how often the tool that asks was executed
}

// life plays a part of the story in a bubble, a time after its midnight.
func (c *clocked) life(t *testing.T, later time.Duration, part func(w *actortest.World)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		<-time.After(later)
		script := modeltest.NewFunc(payOrTalk)
		pay := actortest.Func{Says: tool.Spec{Name: "pay", Asks: true}, Do: func(context.Context, tool.Call) (tool.Result, error) {
			c.done++
			return tool.Result{Output: json.RawMessage(`"paid"`)}, nil
		}}
		hang := actortest.Func{Says: tool.Spec{Name: "look"}, Do: func(ctx context.Context, _ tool.Call) (tool.Result, error) {
			<-ctx.Done()
			return tool.Result{}, context.Cause(ctx)
		}}
		c.disk = c.disk.Kill()
		store, err := filestoretest.Open(c.disk, filestore.Options{})
		stdtest.Must(t, err)
		w := actortest.New(t, actortest.Options{
			Store: store, Model: script, Tools: actortest.Tools(pay, hang), Idle: time.Hour,
			Platform: &actortest.Platform{Caps: platform.Capabilities{Outbox: true}},
		})
		w.Wait()
		part(w)
		if faults := script.Faults(); len(faults) > 0 {
			t.Error(faults)
		}
	})
}

// payOrTalk calls the tool that the newest words name, or repeats them.
func payOrTalk(req model.Request) []model.Event {
	words, last := said(req.Messages), req.Messages[len(req.Messages)-1]
	if last.Role == modelmessage.RoleUser && (words == "pay" || words == "look") {
		call := modeltest.Call{ID: fmt.Sprintf("c%d", len(req.Messages)), Name: words, Input: `{}`}
		return append(modeltest.CallEvents(call), modeltest.Finish("tool-calls"))
	}
	return append(modeltest.TextEvents("About "+words), modeltest.Finish("stop"))
}

// request is the newest request for approval and its state.
func request(w *actortest.World) (id string, state uimessage.ToolState) {
	for _, m := range w.View(alice).Messages {
		for _, p := range m.Parts {
			if c, ok := p.(uimessage.Tool); ok && c.Approval != nil {
				id, state = c.Approval.ID, c.State
			}
		}
	}
	return id, state
}

// hello says something with an id of its own and waits for the answer.
func hello(t *testing.T, w *actortest.World) {
	t.Helper()
	in := w.Inbound(alice, "alice", "hello")
	in.IngressID, in.MessageID = "hello", "hello"
	r := w.Port.Accept(context.Background(), inbounds(in))[0]
	if r.Err != nil || r.Duplicate {
		t.Errorf("hello came to %+v", r)
	}
	<-time.After(10 * time.Minute)
	v := w.View(alice)
	if v.Running || v.Counts.Open > 0 || v.Counts.Pending > 0 {
		t.Errorf("not at rest: %+v", v.Counts)
	}
	if texts := strings.Join(w.Platform.Texts(alice), "\n"); !strings.Contains(texts, "About hello") {
		t.Errorf("not answered: %q", texts)
	}
}

func decide(t *testing.T, w *actortest.World, id string) messages.DecisionState {
	t.Helper()
	out, err := w.Port.Decide(context.Background(), alice, platform.Person{ID: "alice"}, []messages.Decision{{ApprovalID: id, Approved: true}})
	stdtest.Must(t, err)
	w.Wait()
	return out[0].Is
}

// A wall clock that is a day behind or ahead after a restart revives nothing that has expired, keeps nothing longer
// than its time, and leaves the chats working.
func TestIO14ClockJumps(t *testing.T) {
	const day, asked = 24 * time.Hour, 36 * time.Hour
	tests := []struct {
		name  string
		clock time.Duration // of the second life, behind midnight
		open  bool          // the request is still open then
	}{
		{"a day back", asked - day, true},
		{"a minute back", asked - time.Minute, true},
		{"a minute later", asked + time.Minute, true},
		{"a day ahead", asked + day, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := &clocked{disk: filestoretest.NewDisk()}
			var first string
			c.life(t, asked, func(w *actortest.World) {
				w.Say(alice, "alice", "pay")
				w.Wait()
				first, _ = request(w)
			})
			c.life(t, tt.clock, func(w *actortest.World) {
				if _, state := request(w); tt.open != (state == uimessage.ToolApprovalRequested) {
					t.Errorf("the request is %s", state)
				}
				<-time.After(28 * time.Minute)
				if _, state := request(w); tt.open != (state == uimessage.ToolApprovalRequested) {
					t.Errorf("after 28 minutes the request is %s", state)
				}
				<-time.After(3 * time.Minute)
				if is := decide(t, w, first); is != messages.DecisionExpired {
					t.Errorf("decided after its time: %s, want expired", is)
				}
			})
			c.life(t, 0, func(w *actortest.World) { // and back again
				if is := decide(t, w, first); is != messages.DecisionExpired {
					t.Errorf("a request that is over was revived: %s", is)
				}
				hello(t, w)
			})
			if c.done > 0 {
				t.Errorf("executed %d times without approval", c.done)
			}
		})
	}
}

// A run that a crash interrupted is resumed or reported once, whatever the clock shows afterwards, and the chat works.
func TestIO14RunOfAnotherClock(t *testing.T) {
	for name, clock := range map[string]time.Duration{"a day back": 12 * time.Hour, "a day ahead": 60 * time.Hour, "a minute back": 36*time.Hour - time.Minute} {
		t.Run(name, func(t *testing.T) {
			c := &clocked{disk: filestoretest.NewDisk()}
			c.life(t, 36*time.Hour, func(w *actortest.World) {
				w.Say(alice, "alice", "look")
				w.Say(alice, "alice", "and this")
				w.Wait()
			})
			c.life(t, clock, func(w *actortest.World) {
				<-time.After(10 * time.Minute)
				hello(t, w)
				if v := w.View(alice); v.Counts.Accepted != 3 {
					t.Errorf("accepted %d, want 3", v.Counts.Accepted)
				}
			})
		})
	}
}
