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

	"github.com/shipmyagent/shipmyagent/adapters/platform/feishutest"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

// TestFeishuFakeJudged uses our fake with the vendor's own library: it gets tokens, sends, answers, streams a card,
// uploads and downloads files, lists forwarded messages and the scopes of the app, recalls a message, verifies and
// decrypts an event, and receives three events over its long connection, one in packets.
func TestFeishuFakeJudged(t *testing.T) {
	node := needNode(t)
	need(t, filepath.Join("testdata", "e2e", "node_modules", "@larksuiteoapi", "node-sdk", "package.json"))
	api := feishutest.NewAPI(t)
	api.AddChat("oc_1", "p2p")
	event := func(id, text string) map[string]any {
		content, err := json.Marshal(map[string]string{"text": text})
		stdtest.Must(t, err)
		return map[string]any{
			"sender":  map[string]any{"sender_id": map[string]any{"open_id": "ou_1"}, "sender_type": "user"},
			"message": map[string]any{"message_id": id, "chat_id": "oc_1", "chat_type": "p2p", "message_type": "text", "content": string(content)},
		}
	}
	req, err := api.Request(t.Context(), "http://127.0.0.1/", api.EventBody("im.message.receive_v1", event("om_1", "posted")))
	stdtest.Must(t, err)
	body, err := io.ReadAll(req.Body)
	stdtest.Must(t, err)
	headers := map[string]string{}
	for name := range req.Header {
		headers[strings.ToLower(name)] = req.Header.Get(name)
	}
	request, err := json.Marshal(map[string]any{"headers": headers, "body": string(body)})
	stdtest.Must(t, err)
	api.Mute(true) // the library comes later
	var held []map[string]string
	for kind, ask := range map[string]string{"image": "image", "file": "file"} {
		id := api.SayFile("oc_1", "ou_1", kind, "a.bin", []byte("of "+kind), nil)
		held = append(held, map[string]string{"message_id": id, "file_key": api.HeldKey(id), "type": ask, "text": "of " + kind})
	}
	files, err := json.Marshal(held)
	stdtest.Must(t, err)
	forwarded := api.SayForwarded("oc_1", "ou_1", []feishutest.Forwarded{
		{From: "ou_2", Kind: "text", Content: `{"text":"x"}`}, {From: "ou_3", Kind: "image", Content: `{"image_key":"img_v3_1"}`},
	}, nil)
	api.Mute(false)
	ctx, cancel := context.WithTimeout(t.Context(), 90*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, node, "feishu.mjs")
	cmd.Dir = filepath.Join("testdata", "e2e")
	cmd.Env = append(os.Environ(), "FEISHU_URL="+api.URL(), "FEISHU_APP="+feishutest.App, "FEISHU_SECRET="+api.Secret(),
		"FEISHU_KEY="+api.EncryptKey(), "FEISHU_TOKEN="+api.VerificationToken(), "FEISHU_REQUEST="+string(request),
		"FEISHU_HELD="+string(files), "FEISHU_FORWARDED="+forwarded)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	stdtest.Must(t, cmd.Start())
	t.Cleanup(func() {
		if cancel(); t.Failed() && cmd.ProcessState == nil {
			_ = cmd.Wait() // it was ended
			t.Logf("the judge: %s", out.String())
		}
	})
	// The library ignores events before its first ping.
	api.Await(t, "a ping of the library", func() bool { return api.Pings() > 0 })
	api.Inject("im.message.receive_v1", event("om_2", "short"))
	api.Recall("oc_1", "om_2", "message_owner")
	api.Inject("im.message.receive_v1", event("om_3", strings.Repeat("long ", 300)+"end"))
	if err := cmd.Wait(); err != nil {
		t.Fatalf("the judge: %v\n%s", err, out.String())
	}
	for _, want := range []string{"heard posted", "heard short", "taken back om_2 in oc_1 by message_owner", "long end", "done"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is not in %s", want, out.String())
		}
	}
	if sent := api.Sent("oc_1"); len(sent) != 3 || sent[0].Text != "from the library" || sent[1].Kind != "image" || sent[2].Kind != "file" {
		t.Errorf("sent %+v", sent)
	}
}
