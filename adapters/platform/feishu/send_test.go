package feishu_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/adapters/platform/faketest"
	"github.com/shipmyagent/shipmyagent/adapters/platform/feishu"
	"github.com/shipmyagent/shipmyagent/adapters/platform/feishutest"
	"github.com/shipmyagent/shipmyagent/adapters/platform/platformtest"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

func jsonText(s string) string {
	raw, err := json.Marshal(s)
	if err != nil {
		return `""`
	}
	return string(raw)
}

// TestRetryIsNoDouble checks that a part that is retried after an unknown outcome appears once,
// also from another process; other parts with the same text appear separately.
func TestRetryIsNoDouble(t *testing.T) {
	b := newBench(t, false, nil)
	plan := func(id string) platform.Part {
		return b.bot.Plan(platform.Outbound{To: target(private), ID: id, Text: "**the same** words"})[0]
	}
	b.trouble(platformtest.CutAfter)
	_, err := b.bot.Send(t.Context(), target(private), plan("m/1"))
	if e, ok := errors.AsType[*platform.Error](err); !ok || !e.Unknown || !e.Retryable {
		t.Fatalf("Send: %v", err)
	}
	first, err := b.bot.Send(t.Context(), target(private), plan("m/1"))
	stdtest.Must(t, err)
	b.make(t, false, nil)
	again, err := b.bot.Send(t.Context(), target(private), plan("m/1"))
	if err != nil || again != first || len(b.shown(target(private))) != 1 {
		t.Errorf("again %+v, first %+v, %v, shown %q", again, first, err, b.shown(target(private)))
	}
	next, err := b.bot.Send(t.Context(), target(private), plan("m/2"))
	if err != nil || next == first || len(b.shown(target(private))) != 2 {
		t.Errorf("another message: %+v, %v", next, err)
	}
}

// TestReply checks that a part replies to the given message, and is sent without a reply if that
// message is gone.
func TestReply(t *testing.T) {
	b := newBench(t, false, nil)
	asked := b.api.Say(private, owner, "question", nil)
	for _, x := range []struct{ to, parent string }{{asked, asked}, {"om_gone", ""}} {
		if _, err := b.bot.Send(t.Context(), target(private), platform.Part{Text: "answer", ReplyTo: x.to}); err != nil {
			t.Fatal(err)
		}
		sent := b.api.Sent(private)
		if got := sent[len(sent)-1].Parent; got != x.parent {
			t.Errorf("answers %q, want %q", got, x.parent)
		}
	}
}

// TestTokenIsRenewed checks that a token that the service no longer accepts is replaced, once.
func TestTokenIsRenewed(t *testing.T) {
	b := newBench(t, false, nil)
	for range 3 {
		if _, err := b.bot.Send(t.Context(), target(private), platform.Part{Text: "x"}); err != nil {
			t.Fatal(err)
		}
		b.api.ExpireTokens()
	}
	if n := len(b.api.Calls("tenant_access_token")); n != 3 {
		t.Errorf("%d tokens", n)
	}
}

// TestMarkupIsInert checks that text from a model cannot mention anybody or create other elements.
func TestMarkupIsInert(t *testing.T) {
	b := newBench(t, false, func(o *feishu.Options) { o.Drafts = feishu.DraftsCard })
	for _, text := range []string{`<at user_id="all">all</at>`, "**<at id=all></at>**", "[x](javascript:alert(1))", `"}]],"x":[[{"tag":"at","user_id":"all"`, "```go\n<at id=all></at>\n```"} {
		for _, draft := range []bool{false, true} {
			for _, p := range b.bot.Plan(platform.Outbound{To: target(private), Text: text, Draft: draft}) {
				if _, err := b.bot.Send(t.Context(), target(private), p); err != nil {
					t.Fatalf("%q: %v", text, err)
				}
			}
			sent := b.api.Sent(private)
			last := sent[len(sent)-1]
			if strings.Contains(last.Content, `"tag":"at"`) || strings.Contains(last.Content, `"tag":"a"`) || draft && strings.Contains(last.Text, "<at") {
				t.Errorf("%q acts in %s %s", text, last.Content, last.Text)
			}
		}
	}
}

// A picture that the service cannot take now is not sent as a file: it is sent as a picture later.
func TestPicturesOverTheLimitStayPictures(t *testing.T) {
	b := newBench(t, false, nil)
	path := filepath.Join(t.TempDir(), "a.png")
	stdtest.Must(t, os.WriteFile(path, make([]byte, 10), 0o600))
	b.api.Fail(feishutest.Fault{Path: "/im/v1/images", Kind: faketest.Refuse, Code: 99991400, Text: "request trigger frequency limit"})
	part := b.bot.Plan(platform.Outbound{To: target(private), Attachments: []platform.Attachment{{Path: path, Kind: "photo"}}})[0]
	_, err := b.bot.Send(t.Context(), target(private), part)
	if e, ok := errors.AsType[*platform.Error](err); !ok || e.Reason != platform.SendRate || !e.Retryable || e.Unknown {
		t.Errorf("got %v, want that it is to be sent later", err)
	}
	if _, err := b.bot.Send(t.Context(), target(private), part); err != nil {
		t.Error(err)
	}
	if sent := b.api.Sent(private); len(sent) != 1 || sent[0].Kind != "image" {
		t.Errorf("sent %+v", sent)
	}
}

// TestFiles checks that files are uploaded and shown by their kind, and that files that the service
// would not accept are refused before.
func TestFiles(t *testing.T) {
	b := newBench(t, false, nil)
	dir := t.TempDir()
	file := func(name string, size int) string {
		path := filepath.Join(dir, name)
		stdtest.Must(t, os.WriteFile(path, make([]byte, size), 0o600))
		return path
	}
	for _, x := range []struct {
		a    platform.Attachment
		want string // kind of the message; empty if refused
	}{
		{platform.Attachment{Path: file("a.png", 10), Kind: "photo", Caption: "a picture"}, "image"},
		{platform.Attachment{Path: file("big.png", 11<<20), Kind: "photo"}, "file"},
		{platform.Attachment{Path: file("a.opus", 10), Kind: "voice"}, "audio"},
		{platform.Attachment{Path: file("a.mp4", 10), Kind: "video"}, "media"},
		{platform.Attachment{Path: file("a.docx", 10), Kind: "document"}, "file"},
		{platform.Attachment{Path: file("a.bin", 10)}, "file"},
		{platform.Attachment{Path: file("empty.txt", 0)}, ""},
		{platform.Attachment{Path: filepath.Join(dir, "none")}, ""},
		{platform.Attachment{Path: dir}, ""},
		{platform.Attachment{}, ""},
	} {
		before := len(b.api.Sent(private))
		for _, p := range b.bot.Plan(platform.Outbound{To: target(private), Attachments: []platform.Attachment{x.a}}) {
			_, err := b.bot.Send(t.Context(), target(private), p)
			e, refused := errors.AsType[*platform.Error](err)
			if (err != nil) != (x.want == "") || refused && (e.Reason != platform.SendRefused || e.Retryable) {
				t.Errorf("%+v: %v", x.a, err)
			}
		}
		sent := b.api.Sent(private)[before:]
		if x.want != "" && (len(sent) == 0 || sent[0].Kind != x.want) {
			t.Errorf("%+v is sent as %+v", x.a, sent)
		}
		if x.a.Caption != "" && (len(sent) != 2 || sent[1].Text != x.a.Caption) {
			t.Errorf("the caption is missing: %+v", sent)
		}
	}
}
