package host

import (
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/shipmyagent/shipmyagent/actors/guardian"
	"github.com/shipmyagent/shipmyagent/adapters/model/modeltest"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
	"github.com/shipmyagent/shipmyagent/persistence/chatpath"
)

// An actor that keeps failing after restarts ends the host: first /readyz fails, then the process is
// logged the reason. The text of the panic is not repeated, because it may quote people.
func TestHostIsGivenUpWithAnActorThatCannotLive(t *testing.T) {
	p := newProject(t)
	h := p.start(t, Options{Model: modeltest.NewScript()}, map[string]string{"llm.model": "fake"})
	if code, why := get(t, "http://"+h.metricsAddr+"/readyz"); code != http.StatusOK {
		t.Fatalf("before: %d %s", code, why)
	}
	// An actor that ends by itself cannot be restarted at all, so the test needs no waits.
	ends := actor.PropsFromFunc(func(ac actor.Context) {
		if _, ok := ac.Message().(*actor.Started); ok {
			ac.Stop(ac.Self())
		}
	})
	stdtest.Must(t, h.spawn(t.Context(), "mortal", ends))
	var failed error
	select {
	case failed = <-h.Fatal():
	case <-time.After(20 * time.Second):
		t.Fatal("the host goes on")
	}
	f, ok := errors.AsType[*Failure](failed)
	if !ok || f.Kind != KindFailed || !strings.Contains(f.Error(), "mortal") {
		t.Errorf("the failure is %v", failed)
	}
	if code, why := get(t, "http://"+h.metricsAddr+"/readyz"); code != http.StatusServiceUnavailable || !strings.Contains(why, "the host is failing") {
		t.Errorf("afterwards: %d %s", code, why)
	}
	h.giveUp("router", errors.New("canary words"))
	h.giveUp("router", guardian.ErrEnded)
	select {
	case failed := <-h.Fatal(): // one of them is enough to end the process
		if strings.Contains(failed.Error(), "canary") {
			t.Errorf("the failure quotes the panic: %v", failed)
		}
	default:
		t.Error("a failure got lost")
	}
}

// If the list of chats with unfinished work cannot be read after a restart of the router, it is read again later.
func TestChatsAreWokenOnceTheirListCanBeRead(t *testing.T) {
	p := newProject(t)
	h := p.start(t, Options{}, nil)
	const key = "telegram-chat-1"
	open := filepath.Join(p.dir, ".ship", "open")
	shard := int(chatpath.Shard(key))
	bad := filepath.Join(open, strconv.Itoa((shard+1)%chatpath.Shards))
	stdtest.Write(t, filepath.Join(open, strconv.Itoa(shard), key), "")
	stdtest.Write(t, bad, "not a folder")
	h.restarted <- struct{}{}
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for !strings.Contains(p.log.String(), "the chats with unfinished work cannot be loaded") {
		<-tick.C
	}
	stdtest.Must(t, os.Remove(bad))
	late := time.After(5 * wakeAgain)
	for h.Status(t.Context()).Chats.Active == 0 {
		select {
		case <-tick.C:
		case <-late:
			t.Fatal("the chat is not woken")
		}
	}
}
