package feishu_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/adapters/platform/faketest"
	"github.com/shipmyagent/shipmyagent/adapters/platform/feishu"
	"github.com/shipmyagent/shipmyagent/adapters/platform/feishutest"
	"github.com/shipmyagent/shipmyagent/adapters/platform/platformtest"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
)

// filesOf returns the files among the parts of an inbound, and the texts next to them.
func filesOf(in platform.Inbound) (files []platform.File, words []string) {
	for _, p := range in.Parts {
		if f, ok := platform.FileOf(p); ok {
			files = append(files, f)
		}
		if t, ok := p.(uimessage.Text); ok {
			words = append(words, t.Text)
		}
	}
	return files, words
}

// TestFilesOfPeople checks that images, files, videos and voices are downloaded byte for byte;
// stickers and folders are only text. Rich text with images is one message.
func TestFilesOfPeople(t *testing.T) {
	b := newBench(t, false, nil)
	host := platformtest.NewHost()
	b.receive(t, host)
	host.AwaitUp(t)
	n := 0
	next := func() platform.Inbound { n++; return host.AwaitAccepted(t, n)[n-1] }
	for _, x := range []struct {
		kind, name, want, words string
		more                    map[string]any
	}{
		{"image", "", "photo", "[photo]", nil},
		{"file", "report.pdf", "document", "[document report.pdf]", nil},
		{"audio", "", "voice", "[voice 3 s]", map[string]any{"duration": 2100}},
		{"media", "a.mp4", "video", "[video a.mp4 12 s]", map[string]any{"duration": 12000, "image_key": "img_v3_cover"}},
	} {
		want := bytes.Repeat([]byte(x.kind), 5000)
		id := b.api.SayFile(private, owner, x.kind, x.name, want, x.more)
		in := next()
		files, words := filesOf(in)
		if in.MessageID != id || len(files) != 1 || len(words) != 1 || words[0] != x.words || files[0].Kind != x.want || files[0].Name != x.name || !files[0].Unfetched() {
			t.Fatalf("%s: files %+v, words %q", x.kind, files, words)
		}
		var got bytes.Buffer
		if err := b.bot.Download(t.Context(), files[0], &got, 1<<20); err != nil || !bytes.Equal(got.Bytes(), want) {
			t.Errorf("%s: %d bytes, %v", x.kind, got.Len(), err)
		}
	}
	for kind, want := range map[string]string{"sticker": "[sticker]", "folder": "[folder plans]"} {
		b.api.SayFile(private, owner, kind, "plans", nil, nil)
		if files, words := filesOf(next()); len(files) != 0 || len(words) != 1 || words[0] != want {
			t.Errorf("%s: files %+v, words %q", kind, files, words)
		}
	}
	images := [][]byte{[]byte("first"), []byte("second")}
	b.api.SayPost(private, owner, `{"title":"Two","content":[[{"tag":"text","text":"look "},{"tag":"img","image_key":"{image 0}"}],[{"tag":"img","image_key":"{image 1}"}]]}`, images, nil)
	in := next()
	files, _ := filesOf(in)
	var got [][]byte
	for _, f := range files {
		var one bytes.Buffer
		if err := b.bot.Download(t.Context(), f, &one, 100); err != nil {
			t.Error(err)
		}
		got = append(got, one.Bytes())
	}
	if diff := cmp.Diff(images, got); diff != "" || in.Text != "Two\nlook" {
		t.Errorf("text %q, images (-want +got):\n%s", in.Text, diff)
	}
}

// TestIO12FeishuDownloads checks that downloads are bounded by the bytes that arrive, whatever the
// response claims; temporary failures are retried, and no error contains a secret.
func TestIO12FeishuDownloads(t *testing.T) {
	b := newBench(t, false, func(o *feishu.Options) { o.StateDir = "" })
	id := b.api.SayFile(private, owner, "file", "big.bin", bytes.Repeat([]byte("x"), 1<<20), nil)
	key := b.api.HeldKey(id)
	file := func(kind, id string) platform.File { return platform.File{Kind: kind, FileID: id} }
	good := file("document", id+"/"+key)
	get := func(f platform.File, limit int64) (int, error) {
		var w bytes.Buffer
		err := b.bot.Download(t.Context(), f, &w, limit)
		b.clean(t, fmt.Sprint(err))
		return w.Len(), err
	}
	for i, x := range []struct {
		file  platform.File
		limit int64
		want  error
	}{
		{good, 1 << 20, nil},
		{good, 1<<20 - 1, platform.ErrTooLarge},
		{good, 0, platform.ErrTooLarge},
		{file("photo", good.FileID), 1 << 20, platform.ErrNoFile}, // of another type
		{file("document", id), 100, platform.ErrNoFile},
		{file("document", ""), 100, platform.ErrNoFile},
		{file("document", id+"/"), 100, platform.ErrNoFile},
		{file("document", "/"+key), 100, platform.ErrNoFile},
		{file("document", id+"/../../auth/v3/tenant_access_token/internal"), 100, platform.ErrNoFile},
		{file("document", id+"/"+key+"?type=image"), 100, platform.ErrNoFile},
		{file("document", id+"/"+key+"%2f"), 100, platform.ErrNoFile},
		{file("document", "om_other/"+key), 100, platform.ErrNoFile},
		{file("document", id+"/"+strings.Repeat("k", 300)), 100, platform.ErrNoFile},
	} {
		n, err := get(x.file, x.limit)
		if !errors.Is(err, x.want) || int64(n) > x.limit+1 {
			t.Errorf("%d: %d bytes, %v, want %v", i, n, err, x.want)
		}
	}
	if n := len(b.api.Calls("tenant_access_token")); n != 1 {
		t.Errorf("%d tokens were asked for", n)
	}
	for _, f := range []feishutest.Fault{
		{Kind: faketest.ResetBefore, N: 2},
		{Kind: faketest.Refuse, Status: 500, Code: 2200, Text: "Internal Error"},
		{Kind: faketest.Garbage, Status: 502},
		{Kind: faketest.Refuse, Status: 429, Code: 99991400, Text: "request trigger frequency limit", RetryAfter: 1},
		{Kind: faketest.Refuse, Code: 99991663, Text: "Invalid access token for authorization."},
	} {
		f.Path = "/resources/"
		b.api.Fail(f)
		if n, err := get(good, 1<<20); err != nil || n != 1<<20 {
			t.Errorf("after %+v: %d bytes, %v", f, n, err)
		}
	}
	b.api.Fail(feishutest.Fault{Path: "/resources/", Kind: faketest.Refuse, Code: 234037, Text: "Downloaded file size exceeds limit."})
	if _, err := get(good, 1<<20); !errors.Is(err, platform.ErrTooLarge) {
		t.Errorf("above the service's limit: %v", err)
	}
	b.api.Withhold(true, "im:message")
	if _, err := get(good, 1<<20); !errors.Is(err, platform.ErrNoFile) || !strings.Contains(err.Error(), "im:message") {
		t.Errorf("without the scope: %v", err)
	}
	b.api.Withhold(false, "im:message")
	b.api.Recall(private, id, "message_owner")
	if _, err := get(good, 1<<20); !errors.Is(err, platform.ErrNoFile) {
		t.Errorf("of a message taken back: %v", err)
	}
}
