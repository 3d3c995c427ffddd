//go:build linux

package host

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/machinetest"
	"github.com/shipmyagent/shipmyagent/adapters/sandbox/bubblewrap"
	"github.com/shipmyagent/shipmyagent/adapters/sandbox/landlock"
	"github.com/shipmyagent/shipmyagent/adapters/sandbox/sandboxtest"
	"github.com/shipmyagent/shipmyagent/adapters/tool"
	"github.com/shipmyagent/shipmyagent/adapters/tool/mcp"
	"github.com/shipmyagent/shipmyagent/config"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

// mcpExamples are the files of docs/examples/mcp with what shows that each works: calls,
// and a text that the answer has. PAGE is the address of a page.
func mcpExamples() map[string][][3]string {
	return map[string][][3]string{
		"everything": {{"echo", `{"message":"你好"}`, "你好"}, {"get-tiny-image", `{}`, "image/png"}},
		"filesystem": {{"write_file", `{"path":"a.txt","content":"from a server"}`, ""}, {"read_text_file", `{"path":"a.txt"}`, "from a server"}},
		"memory": {
			{"create_entities", `{"entities":[{"name":"Ship","entityType":"thing","observations":["floats"]}]}`, "entities"},
			{"search_nodes", `{"query":"Ship"}`, "floats"},
		},
		"thinking": {{"sequentialthinking", `{"thought":"a","nextThoughtNeeded":false,"thoughtNumber":1,"totalThoughts":1}`, "thoughtNumber"}},
		"context7": {}, // a call asks its service
		"browser": {
			{"browser_navigate", `{"url":"PAGE"}`, "A page of a test"},
			{"browser_take_screenshot", `{}`, "image/png"},
		},
		"time": {{"get_current_time", `{"timezone":"Asia/Shanghai"}`, "Asia/Shanghai"}},
	}
}

// TestMCPExamples starts every example as it is written, from a registry that has the
// versions of the lock file, in both sandboxes.
func TestMCPExamples(t *testing.T) {
	const folder = "../../../docs/examples/mcp"
	modules, err := filepath.Abs("../../sma/testdata/e2e/node_modules")
	stdtest.Must(t, err)
	files, err := filepath.Glob(filepath.Join(folder, "*.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no examples: %v", err)
	}
	examples := mcpExamples()
	registry := ""
	if _, err := os.Stat(modules); err == nil {
		registry = npmRegistry(t, modules)
	}
	boxes := []sandboxtest.Checker{bubblewrap.New(bubblewrap.Options{}), landlock.New(landlock.Options{})}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".json")
		calls, known := examples[name]
		if !known {
			t.Errorf("nothing shows that %s works", file)
			continue
		}
		delete(examples, name)
		slices.Reverse(boxes) // the first one fetches the packages for both
		dir := sandboxtest.Outside(t)
		for _, box := range boxes {
			t.Run(name+"/"+box.Name(), func(t *testing.T) {
				sandboxtest.Need(t, box)
				if _, err := exec.LookPath("uvx"); name == "time" && err != nil {
					t.Skip("uv is not installed, and there is no package of it for a bare machine")
				}
				if name != "time" && registry == "" {
					machinetest.Missing(t, "npm packages are missing: run cmd/sma/testdata/e2e/install.sh")
				}
				runExample(t, box, dir, file, registry, calls)
			})
		}
	}
	for name := range examples {
		t.Errorf("there is no example %s", name)
	}
}

// runExample starts the server of a file in a project that has nothing else.
func runExample(t *testing.T, box sandboxtest.Checker, dir, file, registry string, calls [][3]string) {
	t.Helper()
	text, err := os.ReadFile(file) //nolint:gosec // one of ours
	stdtest.Must(t, err)
	if lines := bytes.Count(text, []byte("\n")); lines > 10 {
		t.Errorf("the example has %d lines", lines)
	}
	state := filepath.Join(dir, ".ship")
	stdtest.Write(t, filepath.Join(dir, "Agent.md"), "# Ada")
	stdtest.Write(t, MCPFile(state), string(text))
	stdtest.Must(t, os.MkdirAll(filepath.Join(dir, "shared"), 0o700))
	settings, err := config.Load(config.Options{Dir: dir, Env: func(string) (string, bool) { return "", false }, Flags: map[string]string{"llm.provider": "demo"}})
	stdtest.Must(t, err)
	loaded, err := settings.MCP(MCPFile(state), true)
	if err != nil || len(loaded.Servers) != 1 || len(loaded.Findings) > 0 {
		t.Fatalf("the example: %+v, %v", loaded, err)
	}
	servers := MCPServers(loaded)
	if strings.HasSuffix(servers[0].Command, "npx") { // otherwise as it is written
		servers[0].Env = append(servers[0].Env, "npm_config_registry="+registry)
	}
	store, err := MCPStore(state)
	stdtest.Must(t, err)
	m := mcp.New(MCPOptions(Options{Dir: dir, State: state, Settings: settings, Logger: slog.New(slog.DiscardHandler), Version: "test"}, store, box))
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
		defer cancel()
		if err := m.Stop(ctx); err != nil {
			t.Error(err)
		}
	})
	stdtest.Must(t, m.Apply(t.Context(), servers))
	ctx, cancel := context.WithTimeout(t.Context(), 4*time.Minute)
	defer cancel()
	status, err := m.Test(ctx, servers[0].Name)
	if err != nil || status.Condition != mcp.ConditionUp || len(status.Tools) == 0 {
		log, _ := mcp.ReadLog(MCPLogs(state), servers[0].Name)
		t.Fatalf("the server is %+v, %v; its log: %s", status, err, log)
	}
	callExample(ctx, t, m, state, servers[0].Name, calls)
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 3 {
		t.Errorf("the project holds %v, %v; want nothing more", entries, err)
	}
}

func callExample(ctx context.Context, t *testing.T, m *mcp.Manager, state, server string, calls [][3]string) {
	t.Helper()
	page := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = w.Write([]byte("<title>A page of a test</title><h1>Hello</h1>")) // the browser has left
	}))
	defer page.Close()
	tools := map[string]tool.Tool{}
	for _, t := range m.Tools() {
		tools[t.Spec().Name] = t
	}
	for _, call := range calls {
		name := server + ":" + call[0]
		if tools[name] == nil {
			t.Fatalf("%s is not offered", name)
		}
		input := strings.ReplaceAll(call[1], "PAGE", page.URL)
		result, err := tools[name].Invoke(ctx, tool.Call{
			ID: "1", Name: name, Input: json.RawMessage(input), Run: tool.Run{ChatKey: "telegram-chat-1"},
		})
		if err != nil || !strings.Contains(string(result.Output), call[2]) {
			log, _ := mcp.ReadLog(MCPLogs(state), server)
			t.Fatalf("%s = %s, %v; the log: %s", name, result.Output, err, log)
		}
		if call[2] == "image/png" {
			checkPicture(t, state, result.Output)
		}
	}
}

// checkPicture requires that the folder of files has a picture of the result.
func checkPicture(t *testing.T, state string, output json.RawMessage) {
	t.Helper()
	var result struct {
		Files []struct {
			Path      string `json:"path"`
			MediaType string `json:"mediaType"`
		} `json:"files"`
	}
	if err := json.Unmarshal(output, &result); err != nil || len(result.Files) != 1 {
		t.Fatalf("the result %s has no picture: %v", output, err)
	}
	data := stdtest.Read(t, filepath.Join(state, "files", result.Files[0].Path))
	if got := http.DetectContentType(data); got != "image/png" {
		t.Errorf("%s is %s", result.Files[0].Path, got)
	}
}
