package feishu_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/adapters/platform/faketest"
	"github.com/shipmyagent/shipmyagent/adapters/platform/feishu"
	"github.com/shipmyagent/shipmyagent/adapters/platform/feishutest"
	"github.com/shipmyagent/shipmyagent/adapters/platform/platformtest"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

// TestRecalled checks that recalled messages are reported, by both kinds of events, also if the
// message is unknown here; a recall that is set aside is delivered after a restart.
func TestRecalled(t *testing.T) {
	for name, link := range map[string]bool{"webhook": false, "connection": true} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			b := newBench(t, link, func(o *feishu.Options) { o.StateDir = dir })
			host := platformtest.NewHost()
			stop := b.receive(t, host)
			host.AwaitUp(t)
			said := b.api.Say(private, other, "never mind", nil)
			b.api.Recall(private, said, "message_owner")
			b.api.Recall(group, "om_unknown", "group_owner")
			b.api.Await(t, "the events", b.api.Idle)
			b.api.Repeat()
			b.api.Await(t, "the repetition", b.api.Idle)
			got := host.AwaitAccepted(t, 3)
			if len(got) != 3 {
				t.Fatalf("%d were taken", len(got))
			}
			for i, x := range []struct{ chat, id string }{{private, said}, {group, "om_unknown"}} {
				in := got[i+1]
				if in.Kind != platform.KindRecalled || in.EditOf != x.id || in.IngressID != messages.RecallID(x.id) || in.Chat.ID != x.chat || in.ChatKey != target(x.chat).ChatKey {
					t.Errorf("taken %+v", in)
				}
			}
			host.Refuse(func(platform.Inbound) error { return platform.ErrUnavailable })
			b.api.Recall(private, "om_later", "message_owner")
			b.api.Await(t, "it to be answered", func() bool { done, _, _ := b.api.Pushed(); return done == 4 })
			stop()
			b.make(t, link, func(o *feishu.Options) { o.StateDir = dir })
			again := platformtest.NewHost()
			b.receive(t, again)
			if in := again.AwaitAccepted(t, 1)[0]; in.Kind != platform.KindRecalled || in.EditOf != "om_later" {
				t.Errorf("after a restart: %+v", in)
			}
		})
	}
}

// TestOrder checks that events of the long connection that do not wait for answers are handled in
// order, chat by chat, although some need a request to the service.
func TestOrder(t *testing.T) {
	const each = 40
	b := newBench(t, true, func(o *feishu.Options) {
		o.Groups = map[string]platform.Group{group: {Addressed: platform.GroupsAll}}
	})
	host := platformtest.NewHost()
	b.receive(t, host)
	host.AwaitUp(t)
	b.api.Ahead(true)
	want := map[string][]string{}
	for i := range each {
		for _, chat := range []string{private, group} {
			more := map[string]any{}
			if i%3 == 0 { // for these the service has to be asked whose message it is
				more["parent_id"] = b.api.SayNothing(chat)
			}
			want[chat] = append(want[chat], b.api.Say(chat, owner, fmt.Sprint("message ", i), more))
		}
	}
	got := map[string][]string{}
	for _, in := range host.AwaitAccepted(t, 2*each) {
		got[in.Chat.ID] = append(got[in.Chat.ID], in.MessageID)
	}
	stdtest.Diff(t, "order", want, got)
}

// Forwarded messages that are not available when the event arrives are requested again when the event is repeated, for
// a while.
func TestForwardsThatCannotBeHadNow(t *testing.T) {
	b := newBench(t, false, nil)
	host := platformtest.NewHost()
	b.receive(t, host)
	host.AwaitUp(t)
	list := []feishutest.Forwarded{{From: "ou_a", Kind: "text", Content: `{"text":"content"}`}}
	for i, kind := range []faketest.FaultKind{faketest.Hang, faketest.Refuse} {
		b.api.Fail(feishutest.Fault{Path: "/im/v1/messages/", Kind: kind, Code: 99991400, Text: "request trigger frequency limit"})
		b.api.SayForwarded(private, owner, list, nil)
		b.api.Await(t, "the first try to fail", func() bool { _, waiting, _ := b.api.Pushed(); return b.api.Idle() && waiting == 1 })
		b.api.Advance(15 * time.Second)
		if _, words := filesOf(host.AwaitAccepted(t, i+1)[i]); len(words) != 1 || !strings.Contains(words[0], ": content") {
			t.Errorf("%s: taken with %q", kind, words)
		}
	}
}

// TestForwards checks that messages forwarded together become one message with all texts, senders
// and times; nothing is requested for people without access.
func TestForwards(t *testing.T) {
	b := newBench(t, false, func(o *feishu.Options) { o.Patience = 20 * time.Second }) // enough for a busy machine
	host := platformtest.NewHost()
	b.receive(t, host)
	host.AwaitUp(t)
	list := []feishutest.Forwarded{
		{From: "ou_a", Kind: "text", Content: `{"text":"/stop all\nyes"}`},
		{From: "ou_b", Kind: "post", Content: `{"title":"T","content":[[{"tag":"text","text":"rich"},{"tag":"img","image_key":"img_v3_1"}]]}`},
		{From: "ou_a", Kind: "image", Content: `{"image_key":"img_v3_2"}`},
		{From: "ou_b", Kind: "file", Content: `{"file_key":"file_v3_1","file_name":"../x.pdf"}`},
		{From: "ou_b", Kind: "merge_forward", Content: "Merged and Forwarded Message"},
		{From: "", Kind: "text", Content: "not JSON"},
	}
	b.api.SayForwarded(private, owner, list, nil)
	in := host.AwaitAccepted(t, 1)[0]
	files, words := filesOf(in)
	if in.Kind != platform.KindMessage || !in.Forwarded || in.Text != "" || len(files) != 0 || len(words) != 1 {
		t.Fatalf("taken %+v", in)
	}
	for _, want := range []string{"[forwarded messages]\nou_a 20", ": /stop all\n  yes\nou_b", ": T\n  rich [photo]\n", ": [photo]\n", ": [document x.pdf]\n", ": [forwarded messages]\nsomebody"} {
		if !strings.Contains(words[0], want) {
			t.Errorf("%q is not in %q", want, words[0])
		}
	}
	asked := len(b.api.Calls("/im/v1/messages/"))
	b.api.SayForwarded(group, owner, list, nil)
	if in := host.AwaitAccepted(t, 2)[1]; in.Gate.Open || len(b.api.Calls("/im/v1/messages/")) != asked {
		t.Errorf("somebody unheard was asked for: %+v", in.Gate)
	}
	b.api.Fail(feishutest.Fault{Path: "/im/v1/messages/", Kind: faketest.Refuse, Code: 230002, Text: "Bot/User can NOT be out of the chat."})
	b.api.SayForwarded(private, owner, list, nil)
	if _, words := filesOf(host.AwaitAccepted(t, 3)[2]); len(words) != 1 || words[0] != "[forwarded messages]" {
		t.Errorf("when they cannot be had: %q", words)
	}
	long := make([]feishutest.Forwarded, 300)
	for i := range long {
		long[i] = feishutest.Forwarded{From: "ou_a", Kind: "text", Content: `{"text":"` + strings.Repeat("w", 1000) + `"}`}
	}
	b.api.SayForwarded(private, owner, long, nil)
	if _, words := filesOf(host.AwaitAccepted(t, 4)[3]); len(words) != 1 || len(words[0]) > 40<<10 || !strings.HasSuffix(words[0], "[more was forwarded]") {
		t.Errorf("%d bytes of a long list", len(words[0]))
	}
}
