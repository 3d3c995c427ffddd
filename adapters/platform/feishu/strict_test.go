package feishu_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/adapters/platform/faketest"
	"github.com/shipmyagent/shipmyagent/adapters/platform/feishu"
	"github.com/shipmyagent/shipmyagent/adapters/platform/feishutest"
	"github.com/shipmyagent/shipmyagent/adapters/speech/speechtest"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

// TestServiceRate checks that every form of a rate limit is retried.
func TestServiceRate(t *testing.T) {
	b := newBench(t, false, nil)
	for _, code := range []int{99991400, 230020, 11232} {
		b.api.Fail(feishutest.Fault{Path: "/im/v1/messages", Kind: faketest.Refuse, Code: code, Text: "trigger rate limit"})
		_, err := b.bot.Send(t.Context(), target(private), platform.Part{Text: "x"})
		if e, ok := errors.AsType[*platform.Error](err); !ok || e.Reason != platform.SendRate || !e.Retryable || e.Unknown || e.RetryAfter <= 0 {
			t.Errorf("%d: %v", code, err)
		}
	}
}

// TestLongestTextsFit checks that no text of ours is refused for its length, however its characters
// are encoded: the service limits whole requests.
func TestLongestTextsFit(t *testing.T) {
	b := newBench(t, false, func(o *feishu.Options) { o.Drafts = feishu.DraftsCard })
	for _, piece := range []string{"<", "&", `"`, `\`, "\u2028", "\x01", "汉", "😀", "a\n", "*a* "} {
		text := strings.Repeat(piece, 8000/len(piece))
		for _, p := range b.bot.Plan(platform.Outbound{To: target(private), Text: text}) {
			if _, err := b.bot.Send(t.Context(), target(private), p); err != nil {
				t.Errorf("%q: %v", piece, err)
			}
		}
		for _, p := range b.bot.Plan(platform.Outbound{To: target(private), Text: text, Draft: true}) {
			if _, err := b.bot.Send(t.Context(), target(private), p); err != nil {
				t.Errorf("draft of %q: %v", piece, err)
			}
		}
	}
	for _, c := range b.api.Calls("") {
		if c.Code == 230025 || c.Code == 300305 {
			t.Errorf("%s %s was too long", c.Method, c.Path)
		}
	}
}

// TestTokenKeepsNobody checks that a caller that cannot wait for a token being fetched by another
// call gives up.
func TestTokenKeepsNobody(t *testing.T) {
	b := newBench(t, false, nil)
	b.api.Fail(feishutest.Fault{Path: "tenant_access_token", Kind: faketest.Hang, N: -1})
	slow, cancel := context.WithCancel(t.Context())
	first := make(chan error, 1)
	go func() {
		_, err := b.bot.Send(slow, target(private), platform.Part{Text: "slow"})
		first <- err
	}()
	b.api.Await(t, "the question for a token", func() bool { return len(b.api.Calls("tenant_access_token")) == 1 })
	quick, stop := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer stop()
	_, err := b.bot.Send(quick, target(private), platform.Part{Text: "quick"})
	if e, ok := errors.AsType[*platform.Error](err); !ok || e.Unknown {
		t.Errorf("who cannot wait: %v", err)
	}
	select {
	case err := <-first:
		t.Errorf("waited until the other was through with %v", err)
	default:
	}
	b.api.Heal()
	cancel()
	if err := <-first; err == nil {
		t.Error("a hung call went through")
	}
	if _, err := b.bot.Send(t.Context(), target(private), platform.Part{Text: "again"}); err != nil {
		t.Errorf("afterwards: %v", err)
	}
}

// TestSendsWhatPeopleSent checks that a file that somebody sent can be sent on by the id that the
// chat knows; the service accepts only keys of files that the app has uploaded.
func TestSendsWhatPeopleSent(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	b := newBench(t, false, nil)
	id := func(kind, name string, data string) string {
		m := b.api.SayFile(private, owner, kind, name, []byte(data), nil)
		return m + "/" + b.api.HeldKey(m)
	}
	for name, x := range map[string]struct {
		a    platform.Attachment
		want string // kind of the message; empty if refused permanently
	}{
		"photo":           {platform.Attachment{FileID: id("image", "", "png"), Kind: "photo"}, "image"},
		"photo as such":   {platform.Attachment{FileID: id("image", "", "png")}, "image"},
		"document":        {platform.Attachment{FileID: id("file", "a.pdf", "%PDF"), Kind: "document"}, "file"},
		"no photo at all": {platform.Attachment{FileID: id("file", "a.pdf", "%PDF"), Kind: "photo"}, "file"},
		"voice":           {platform.Attachment{FileID: id("audio", "", "OggS"), Kind: "voice"}, "audio"},
		"video":           {platform.Attachment{FileID: id("media", "a.mp4", "mp4"), Kind: "video"}, "media"},
		"gone":            {platform.Attachment{FileID: "om_none/file_v3_1", Kind: "document"}, ""},
		"no id of ours":   {platform.Attachment{FileID: "../../etc", Kind: "document"}, ""},
		"too large":       {platform.Attachment{FileID: id("file", "a.bin", strings.Repeat("x", 31<<20)), Kind: "document"}, ""},
	} {
		before := len(b.api.Sent(private))
		_, err := b.bot.Send(t.Context(), target(private), platform.Part{Attachment: &x.a})
		e, refused := errors.AsType[*platform.Error](err)
		if (err != nil) != (x.want == "") || refused && (e.Reason != platform.SendRefused || e.Retryable || e.Unknown) {
			t.Errorf("%s: %v", name, err)
		}
		sent := b.api.Sent(private)[before:]
		if x.want != "" && (len(sent) != 1 || sent[0].Kind != x.want) {
			t.Errorf("%s is sent as %+v", name, sent)
		}
	}
	b.api.Fail(feishutest.Fault{Path: "/resources/", Kind: faketest.Refuse, Status: 500, Code: 2200, N: 3})
	_, err := b.bot.Send(t.Context(), target(private), platform.Part{Attachment: &platform.Attachment{FileID: id("file", "a", "x")}})
	if e, ok := errors.AsType[*platform.Error](err); !ok || !e.Retryable || e.Unknown {
		t.Errorf("a service that fails: %v", err)
	}
	if left, err := filepath.Glob(filepath.Join(os.TempDir(), "sma-feishu-*")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// TestVoiceHasALength checks that the service is given the playing time of our voice messages.
func TestVoiceHasALength(t *testing.T) {
	b := newBench(t, false, nil)
	dir := t.TempDir()
	for name, x := range map[string]struct {
		data string
		want any
	}{
		"voice.opus": {string(speechtest.Voice(60)), "1200"},
		"odd.opus":   {"OggS", nil},
	} {
		path := filepath.Join(dir, name)
		stdtest.Must(t, os.WriteFile(path, []byte(x.data), 0o600))
		if _, err := b.bot.Send(t.Context(), target(private), platform.Part{Attachment: &platform.Attachment{Path: path, Kind: "voice"}}); err != nil {
			t.Fatal(err)
		}
		calls := b.api.Calls("/im/v1/files")
		if got := calls[len(calls)-1].Body["duration"]; got != x.want {
			t.Errorf("%s: duration %v, want %v", name, got, x.want)
		}
	}
}
