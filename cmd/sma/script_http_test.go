package main

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// service starts a server that answers everything in one way and writes its address into
// a variable: service NAME 401 {"error":…}.
func service(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: service <variable> <status> <body>")
	}
	status, err := strconv.Atoi(args[1])
	ts.Check(err)
	body := strings.ReplaceAll(args[2], `\n`, "\n")
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if strings.HasPrefix(body, "data:") {
			w.Header().Set("Content-Type", "text/event-stream")
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body) // the caller notices
	}))
	ts.Defer(srv.Close)
	ts.Setenv(args[0], srv.URL)
}

// execute posts to /api/execute of the host of a project, with the token "tok":
// execute <dir> <json>. Its answer is compared by the lines that follow: each further
// argument has to be in it.
func execute(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 3 {
		ts.Fatalf("usage: execute <dir> <json> <want>...")
	}
	ts.Check(ts.Exec("sma", "status", "--json", "--dir", args[0]))
	var status struct {
		Platforms []struct{ Name, Note string }
	}
	ts.Check(json.Unmarshal([]byte(ts.ReadFile("stdout")), &status))
	for _, p := range status.Platforms {
		if p.Name != "web" {
			continue
		}
		req, err := http.NewRequestWithContext(context.Background(), http.MethodPost, p.Note+"/api/execute", strings.NewReader(args[1]))
		ts.Check(err)
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Authorization", "Bearer tok")
		res, err := http.DefaultClient.Do(req)
		ts.Check(err)
		body, err := io.ReadAll(res.Body)
		ts.Check(err)
		ts.Check(res.Body.Close())
		ts.Logf("%s %s", res.Status, body)
		for _, want := range args[2:] {
			if !strings.Contains(string(body), want) {
				ts.Fatalf("the answer lacks %s", want)
			}
		}
		return
	}
	ts.Fatalf("no web platform in %s", args[0])
}

// readyz asks the host of a project whether it is ready: readyz <dir> <status> <text>.
func readyz(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: readyz <dir> <status> <text>")
	}
	ts.Check(ts.Exec("sma", "status", "--json", "--dir", args[0]))
	var status struct{ Metrics string }
	ts.Check(json.Unmarshal([]byte(ts.ReadFile("stdout")), &status))
	req, err := http.NewRequestWithContext(context.Background(), http.MethodGet, "http://"+status.Metrics+"/readyz", http.NoBody)
	ts.Check(err)
	res, err := http.DefaultClient.Do(req)
	ts.Check(err)
	body, err := io.ReadAll(res.Body)
	ts.Check(err)
	ts.Check(res.Body.Close())
	if strconv.Itoa(res.StatusCode) != args[1] || strings.TrimSpace(string(body)) != args[2] {
		ts.Fatalf("readyz says %d %q, want %s %q", res.StatusCode, body, args[1], args[2])
	}
}
