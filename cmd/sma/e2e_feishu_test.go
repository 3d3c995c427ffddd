package main_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/platform/platformtest"
)

// TestFeishuFakeJudged: the vendor's own library takes our fake for the service: it
// gets tokens, sends, answers, streams a card, checks and decrypts an event, and
// takes two events over its long connection, one of them in packets.
func TestFeishuFakeJudged(t *testing.T) {
	node := needNode(t)
	need(t, filepath.Join("testdata", "e2e", "node_modules", "@larksuiteoapi", "node-sdk", "package.json"))
	api := platformtest.NewFeishuAPI(t)
	api.AddChat("oc_1", "p2p")
	event := func(id, text string) map[string]any {
		content, err := json.Marshal(map[string]string{"text": text})
		if err != nil {
			t.Fatal(err)
		}
		return map[string]any{
			"sender":  map[string]any{"sender_id": map[string]any{"open_id": "ou_1"}, "sender_type": "user"},
			"message": map[string]any{"message_id": id, "chat_id": "oc_1", "chat_type": "p2p", "message_type": "text", "content": string(content)},
		}
	}
	req, err := api.Request(t.Context(), "http://127.0.0.1/", api.EventBody("im.message.receive_v1", event("om_1", "posted")))
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(req.Body)
	if err != nil {
		t.Fatal(err)
	}
	headers := map[string]string{}
	for name := range req.Header {
		headers[strings.ToLower(name)] = req.Header.Get(name)
	}
	request, err := json.Marshal(map[string]any{"headers": headers, "body": string(body)})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 90*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, node, "feishu.mjs")
	cmd.Dir = filepath.Join("testdata", "e2e")
	cmd.Env = append(os.Environ(), "FEISHU_URL="+api.URL(), "FEISHU_APP="+platformtest.FeishuApp, "FEISHU_SECRET="+api.Secret(),
		"FEISHU_KEY="+api.EncryptKey(), "FEISHU_TOKEN="+api.VerificationToken(), "FEISHU_REQUEST="+string(request))
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cancel)
	// The library does not hear what comes before its first ping.
	api.Await(t, "a ping of the library", func() bool { return api.Pings() > 0 })
	api.Inject("im.message.receive_v1", event("om_2", "short"))
	api.Inject("im.message.receive_v1", event("om_3", strings.Repeat("long ", 300)+"end"))
	if err := cmd.Wait(); err != nil {
		t.Fatalf("the judge: %v\n%s", err, out.String())
	}
	for _, want := range []string{"heard posted", "heard short", "long end", "done"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is not in %s", want, out.String())
		}
	}
	if sent := api.Sent("oc_1"); len(sent) != 2 || sent[0].Text != "from the library" || sent[1].Parent != sent[0].ID {
		t.Errorf("sent %+v", sent)
	}
}
