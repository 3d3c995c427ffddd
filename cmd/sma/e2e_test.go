package main_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/machinetest"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

// The clients that have to understand the host, as installed by
// testdata/e2e/install.sh: the release that is implemented, and the next major
// one as a reader of the same streams.
const (
	clientSDK     = "ai"
	clientSDKNext = "ai-7"
)

// TestClient drives the real npm clients of the AI SDK against the real binary.
// Each scenario is a file of testdata/e2e/scenarios and gets a host of its own,
// behind a proxy that can cut connections.
func TestClient(t *testing.T) {
	node := needNode(t)
	scenarios := []struct {
		name string
		demo bool   // the built-in model instead of the scripted one
		web  string // further settings of adapters.web
	}{
		{name: "send"},
		{name: "tool", demo: true},
		{name: "resume"},
		{name: "tabs"},
		{name: "during"},
		{name: "merge", web: `, "egress": "tool"`},
		{name: "regenerate"},
		{name: "edit"},
		{name: "stop"},
		{name: "loss"},
		{name: "kill"},
		{name: "model-cut"},
		{name: "failure"},
		{name: "survive"},
		{name: "hiccup"},
		{name: "other-words"},
		{name: "refusals"},
		{name: "approve", demo: true},
		{name: "deny", demo: true},
		{name: "undecided", demo: true},
		{name: "late", demo: true},
		{name: "ask-reload", demo: true},
		{name: "ask-kill", demo: true},
	}
	for _, sdk := range []string{clientSDK, clientSDKNext} {
		for _, s := range scenarios {
			t.Run(sdk+"/"+s.name, func(t *testing.T) {
				t.Parallel()
				play(t, node, s.name, newWorld(t, s.demo, s.web), "SDK="+sdk)
			})
		}
	}
}

// TestReactExample uses the page of docs/examples/react in a real browser.
func TestReactExample(t *testing.T) {
	node := needNode(t)
	example := needReact(t)
	browser := needBrowser(t)
	play(t, node, "react", newWorld(t, true, ""), "SDK="+clientSDK, "REACT_EXAMPLE="+example, "CHROMIUM="+browser)
}

// TestUseChat uses a page that is an unmodified useChat in a real browser, for readers of English
// and Chinese. With PICTURES set to a folder, pictures are left there.
func TestUseChat(t *testing.T) {
	node, browser := needNode(t), needBrowser(t)
	example := needReact(t)
	for _, scenario := range []string{"usechat", "usechat-refusals"} {
		for _, language := range []string{"en", "zh"} {
			t.Run(scenario+"/"+language, func(t *testing.T) {
				t.Parallel()
				w := newWorld(t, false, "")
				w.write("report.txt", "a report")
				play(t, node, scenario, w, "SDK="+clientSDK, "REACT_EXAMPLE="+example, "CHROMIUM="+browser, "PAGE_LANGUAGE="+language, "DIRECT_URL=http://"+w.address())
			})
		}
	}
}

// TestUseChatStreams uses the page of TestUseChat in several windows: streams through switched
// contexts, a full window and a provider that breaks off, one of them resumed late.
func TestUseChatStreams(t *testing.T) {
	t.Parallel()
	node, browser := needNode(t), needBrowser(t)
	w := newWorld(t, false, "")
	play(t, node, "usechat-streams", w, "SDK="+clientSDK, "REACT_EXAMPLE="+needReact(t), "CHROMIUM="+browser)
	for _, end := range []string{`"!long|short enough"}]}]}`, `|!long|\\n\"}"}]}`} {
		var sizes []int
		for _, body := range w.server.Bodies() {
			if bytes.HasSuffix(bytes.TrimSpace(body), []byte(end)) {
				sizes = append(sizes, len(body))
			}
		}
		if len(sizes) != 2 || sizes[1] > sizes[0]*3/4 {
			t.Errorf("requests that end with %s have %v bytes, want a second one that is much smaller", end, sizes)
		}
	}
}

// TestPage uses the host's own page in a real browser: commands, approvals in words
// and by button, outputs in pages, in both languages. With PICTURES set to a folder,
// pictures of it are left there.
func TestPage(t *testing.T) {
	node, browser := needNode(t), needBrowser(t)
	for _, language := range []string{"en", "zh"} {
		t.Run(language, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, false, "")
			var text strings.Builder
			for n := range 300 {
				fmt.Fprintf(&text, "line %03d of a long file that is read to people in pages\n", n)
			}
			w.write("long.txt", text.String())
			play(t, node, "page", w, "SDK="+clientSDK, "CHROMIUM="+browser, "PAGE_LANGUAGE="+language)
		})
	}
}

// TestUpload gives files to the host as an unmodified useChat and as the page do, in both
// languages: the model is shown each picture, in later requests with the same bytes.
func TestUpload(t *testing.T) {
	node, browser := needNode(t), needBrowser(t)
	for _, language := range []string{"en", "zh"} {
		t.Run(language, func(t *testing.T) {
			t.Parallel()
			w := newWorldWith(t, `, "limits": {"fileMB": 1}`)
			play(t, node, "upload", w, "SDK="+clientSDK, "CHROMIUM="+browser, "PAGE_LANGUAGE="+language)
			shown := map[int]int{} // requests by the number of pictures in them
			for _, body := range w.server.Bodies() {
				shown[bytes.Count(body, []byte(`"image_url":{"url":"data:image/jpeg;base64,`))]++
			}
			if shown[1] != 2 || shown[3] != 2 {
				t.Errorf("requests by pictures: %v, want two with one and two with three", shown)
			}
		})
	}
}

// TestGivenFiles has the agent give files to people, as an unmodified useChat and the page
// show them, in both languages. With PICTURES set to a folder, pictures are left there.
func TestGivenFiles(t *testing.T) {
	node, browser := needNode(t), needBrowser(t)
	dot, err := base64.StdEncoding.DecodeString("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==")
	stdtest.Must(t, err)
	for _, language := range []string{"en", "zh"} {
		t.Run(language, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, false, "")
			w.write("out/chart.png", string(dot))
			w.write("out/report.html", "<script>alert(1)</script>")
			play(t, node, "given", w, "SDK="+clientSDK, "CHROMIUM="+browser, "PAGE_LANGUAGE="+language)
		})
	}
}

// needReact returns the folder of the React example, with its packages.
func needReact(t *testing.T) string {
	t.Helper()
	example, err := filepath.Abs(filepath.Join("..", "..", "docs", "examples", "react"))
	stdtest.Must(t, err)
	need(t, filepath.Join(example, "node_modules", "react", "package.json"))
	return example
}

func needBrowser(t *testing.T) string {
	t.Helper()
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if found, err := exec.LookPath(name); err == nil {
			return found
		}
	}
	machinetest.Missing(t, "no Chromium is installed")
	return ""
}

// play runs one scenario in a world. The scenario itself fails when it waits too long for one thing;
// the limit here is for one that hangs.
func play(t *testing.T, node, scenario string, w *world, env ...string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, node, "run.mjs", scenario)
	cmd.Dir = filepath.Join("testdata", "e2e")
	cmd.Env = append(append(os.Environ(), "HOST_URL="+w.url(), "CONTROL_URL="+w.control.URL, "PROJECT_DIR="+w.dir), env...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	out, err := cmd.CombinedOutput()
	if cmd.Process != nil {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // what a failed scenario leaves behind; mostly nothing
	}
	if err != nil {
		t.Errorf("%v\n%s\nthe host said:\n%s", err, out, w.log())
	}
	for _, fault := range w.faults() {
		t.Errorf("a request broke the rules of strict providers: %v", fault)
	}
}

func needNode(t *testing.T) string {
	t.Helper()
	node, err := exec.LookPath("node")
	if err != nil {
		machinetest.Missing(t, "node is not installed")
	}
	need(t, filepath.Join("testdata", "e2e", "node_modules", "ai", "package.json"))
	return node
}

// need requires a file that npm installs.
func need(t *testing.T, file string) {
	t.Helper()
	if _, err := os.Stat(file); err != nil {
		machinetest.Missing(t, "npm packages are missing: run cmd/sma/testdata/e2e/install.sh")
	}
}

// words is what a person wrote, apart from the header that the host puts before it.
func words(texts []string) string {
	if len(texts) > 1 && strings.HasPrefix(texts[0], `{"t":`) {
		texts = texts[1:]
	}
	return strings.Join(texts, "\n")
}
