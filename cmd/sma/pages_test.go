package main

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/shipmyagent/shipmyagent/adapters/model"
	"github.com/shipmyagent/shipmyagent/adapters/model/apitest"
	"github.com/shipmyagent/shipmyagent/adapters/model/modeltest"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

// TestModelPages does what each page about a service of models says, with a strict fake of the service in its place:
// commands print what the page shows, requests have the JSON that it quotes, and every failure in its table is explained
// as it says, in English and Chinese.
func TestModelPages(t *testing.T) {
	pages, err := filepath.Glob("../../docs/how-to/models/*.md")
	if err != nil || len(pages) < 9 {
		t.Fatalf("the pages are %q, %v", pages, err)
	}
	for _, path := range pages {
		name := strings.TrimSuffix(filepath.Base(path), ".md")
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			page := readPage(t, path)
			dir := t.TempDir()
			r := &pageReader{dir: dir, env: []string{"PATH=" + filepath.Dir(binary(t)) + ":" + os.Getenv("PATH"), "HOME=" + dir}}
			r.follow(t, blocks(page))
			r.checkRequests(t, page)
			r.checkFailures(t, page, filepath.Join("testdata", "pages", name+".txtar"))
		})
	}
}

// pageReader is somebody who does what a page says.
type pageReader struct {
	dir      string
	env      []string
	key      string // that the page has them export; empty if it does not
	services []*fakeService
}

// follow goes through the blocks of a page: commands, the settings of the project, and what the commands print.
func (r *pageReader) follow(t *testing.T, list []block) {
	t.Helper()
	printed := ""
	for _, b := range list {
		switch b.kind {
		case "sh":
			printed = ""
			for line := range strings.Lines(b.text) {
				printed += r.do(t, strings.TrimSpace(line))
			}
		case "json":
			stdtest.Must(t, os.WriteFile(filepath.Join(r.dir, "mybot", "ship.json"), []byte(b.text), 0o600))
		case "text":
			wantShown(t, printed, b.text)
		default:
			t.Errorf("the page has a block of kind %q", b.kind)
		}
	}
}

// wantShown looks for the lines that a page shows in what its commands printed, in this order.
func wantShown(t *testing.T, printed, shown string) {
	t.Helper()
	left := printed
	for line := range strings.Lines(shown) {
		if line == "…\n" { // something is left out
			continue
		}
		_, rest, found := strings.Cut("\n"+steady(left)+"\n", "\n"+steady(strings.TrimRight(line, "\n"))+"\n")
		if !found {
			t.Fatalf("the page shows %q and what is left of the output is\n%s", line, left)
		}
		left = rest
	}
}

// steady replaces what differs from one answer to the next.
func steady(text string) string {
	return regexp.MustCompile(`\d+( ms, | 毫秒内回答，输入 )\d+( tokens in, | token，输出 )\d+( out| token)`).ReplaceAllString(text, "N${1}N${2}N$3")
}

// do runs a command of a page. sma models says which service is asked from then on, and by which protocol.
func (r *pageReader) do(t *testing.T, line string) string {
	t.Helper()
	if m := regexp.MustCompile(`^export (\w+)=…$`).FindStringSubmatch(line); m != nil {
		r.key = "canary-1234567890"
		r.env = append(r.env, m[1]+"="+r.key)
		return ""
	}
	if line != "sma models -C mybot" {
		out, err := r.run(t, line)
		if err != nil {
			t.Fatalf("%s: %v\n%s", line, err, out)
		}
		return out
	}
	before := r.services
	r.services = nil // people see the address of the service, not that of the fake
	out, err := r.run(t, line)
	m := regexp.MustCompile(`(?s)  api +(\w+).*  address +(\S+)`).FindStringSubmatch(out)
	if err != nil || m == nil {
		t.Fatalf("%s: %v\n%s", line, err, out)
	}
	r.services = append(before, newFakeService(t, m[1], m[2], r.key))
	return out
}

// run runs a command line. Requests go to the newest service, if there is one.
func (r *pageReader) run(t *testing.T, line string, env ...string) (string, error) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "sh", "-c", line)
	cmd.Dir, cmd.Env = r.dir, slices.Clone(r.env)
	if n := len(r.services); n > 0 {
		cmd.Env = append(cmd.Env, "SMA_LLM_BASE_URL="+r.services[n-1].base)
	}
	cmd.Env = append(cmd.Env, env...)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// checkRequests looks for the JSON that a page quotes in the last request to one of the services.
func (r *pageReader) checkRequests(t *testing.T, page string) {
	t.Helper()
	var last [][]byte
	for _, s := range r.services {
		if faults := s.fake.Faults(); len(faults) > 0 {
			t.Errorf("requests break rules of the service: %v", faults)
		}
		if bodies := s.fake.Bodies(); len(bodies) > 0 {
			last = append(last, bodies[len(bodies)-1])
		}
	}
	if len(last) != len(r.services) || len(last) == 0 {
		t.Fatalf("%d of %d services were asked", len(last), len(r.services))
	}
	for _, m := range regexp.MustCompile("`(\"\\w+\":[^ `]+)`").FindAllStringSubmatch(page, -1) {
		if !slices.ContainsFunc(last, func(body []byte) bool { return bytes.Contains(body, []byte(m[1])) }) {
			t.Errorf("no request has %s, the last one is\n%s", m[1], last[len(last)-1])
		}
	}
}

// checkFailures provokes each failure in the table of a page. What the service sends is in an archive, by the words of
// the table.
func (r *pageReader) checkFailures(t *testing.T, page, archive string) {
	t.Helper()
	ar, err := txtar.ParseFile(archive)
	stdtest.Must(t, err)
	sent := map[string][]byte{"no connection": nil}
	for _, f := range ar.Files {
		sent[f.Name] = f.Data
	}
	rows := regexp.MustCompile("(?m)^\\| ([^`|]+) \\| ([^`|]+) \\| `([^`]+)` \\| .+ \\|$").FindAllStringSubmatch(page, -1)
	if len(rows) < len(ar.Files) {
		t.Errorf("%d failures are in the table, and %d in %s", len(rows), len(ar.Files), archive)
	}
	s := r.services[len(r.services)-1]
	for i, row := range rows {
		body, known := sent[row[3]]
		if !known {
			t.Errorf("%s does not say what the service sends as %q", archive, row[3])
			continue
		}
		s.refuse(row[3], body)
		for language, words := range map[string]string{"en_US.UTF-8": row[1], "zh_CN.UTF-8": row[2]} {
			env := []string{"LANG=" + language}
			if body == nil {
				env = append(env, "SMA_LLM_BASE_URL=http://127.0.0.1:1/v1")
			}
			out, err := r.run(t, "sma models check -C mybot", env...)
			if !strings.Contains(out, words) { // too long is only a conversation
				out, err = r.run(t, fmt.Sprintf("sma send -C mybot --chat %s%d hello", language[:2], i), env...)
			}
			if err == nil || !strings.Contains(out, words) {
				t.Errorf("after %q people do not read %q but, with %v,\n%s", row[3], words, err, out)
			}
		}
	}
}

// fakeService is a strict fake of a service at the path of the real one. It can refuse everything.
type fakeService struct {
	base    string
	fake    *modeltest.Endpoint
	refusal atomic.Pointer[refusal]
}

type refusal struct {
	status int
	body   []byte
}

// newFakeService starts a service that speaks a protocol as if it were at an address. Its answers are always the same.
func newFakeService(t *testing.T, api, address, key string) *fakeService {
	t.Helper()
	in, out := int64(14), int64(5)
	script := modeltest.NewScript()
	script.Otherwise = &modeltest.Step{Text: []string{"Yes, I am here."}, Usage: model.Usage{InputTokens: &in, OutputTokens: &out}}
	s := &fakeService{}
	var fakeURL string
	s.fake, fakeURL = apitest.Start(t, api, script, key)
	endpoint := map[string]string{apitest.Chat: "/chat/completions", apitest.Messages: "/messages", apitest.Responses: "/responses"}[api]
	own, err := url.Parse(address)
	stdtest.Must(t, err)
	to, err := url.Parse(fakeURL + endpoint)
	stdtest.Must(t, err)
	proxy := &httputil.ReverseProxy{Rewrite: func(p *httputil.ProxyRequest) {
		path := p.In.URL.Path
		if k := p.In.Header.Get("Api-Key"); k != "" { // Azure
			p.Out.Header.Set("Authorization", "Bearer "+k)
			path = regexp.MustCompile(`^/openai/deployments/[^/]+`).ReplaceAllString(path, "")
		}
		p.Out.URL.Scheme, p.Out.URL.Host = to.Scheme, to.Host
		if path == own.Path+endpoint {
			p.Out.URL.Path = to.Path
		}
	}}
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if no := s.refusal.Load(); no != nil {
			w.Header().Set("Content-Type", "application/json")
			if bytes.HasPrefix(no.body, []byte("<")) {
				w.Header().Set("Content-Type", "text/html")
			}
			w.WriteHeader(no.status)
			_, _ = w.Write(no.body) // the client may be gone
			return
		}
		// A proxy that is still reading a request when its answer comes breaks off both.
		body, err := io.ReadAll(req.Body)
		if err != nil {
			return // the client is gone
		}
		req.Body = io.NopCloser(bytes.NewReader(body))
		proxy.ServeHTTP(w, req)
	}))
	t.Cleanup(front.Close)
	s.base = front.URL + own.Path
	return s
}

// refuse answers all further requests with a body. The status is the first word.
func (s *fakeService) refuse(words string, body []byte) {
	status, _ := strconv.Atoi(strings.Fields(words)[0]) // without one there is no body
	s.refusal.Store(&refusal{status, body})
}
