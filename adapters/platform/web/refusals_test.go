package web

import (
	"strings"
	"testing"

	"github.com/shipmyagent/shipmyagent/adapters/platform/web/internal/respond"
)

// A client of the AI SDK shows people the body of a refusal: it is a sentence in their language.
// Programs get JSON.
func TestRefusalsAreSentences(t *testing.T) {
	s := newServer(t, func(o *Options) { o.Token = func() string { return "secret" } })
	s.live.Seed(key, "u1", "a1")
	s.live.Start(key, "r1", "a2")
	edit := submit("c1", "u1", "other")
	tests := []struct {
		name, method, path, body, token string
		headers                         []string
		status                          int
		code, kind, want                string
	}{
		{"busy", "POST", "/api/chat", edit, "secret", []string{"Accept", "*/*"}, 409, "busy", "text/plain", "The chat is busy with an answer. Stop it or wait until it ends, then try again."},
		{"busy, in Chinese", "POST", "/api/chat", edit, "secret", []string{"Accept", "*/*", "Accept-Language", "zh-CN,zh;q=0.9"}, 409, "busy", "text/plain", "这个聊天正在回答。请先停止，或等回答结束后再试。"},
		{"logged out", "POST", "/api/chat", edit, "", []string{"Accept", "*/*"}, 401, "token_required", "text/plain", "You are not logged in here."},
		{"logged out, in Chinese", "POST", "/api/chat", edit, "", []string{"Accept", "*/*", "Accept-Language", "zh"}, 401, "token_required", "text/plain", "尚未登录。"},
		{"logged out, resuming", "GET", "/api/chat/c1/stream", "", "", []string{"Accept", "*/*"}, 401, "token_required", "text/plain", "You are not logged in here."},
		{"too large", "POST", "/api/chat", submit("c1", "m", strings.Repeat("x", 9<<20)), "secret", []string{"Accept", "*/*"}, 413, "too_large", "text/plain", "This is too large to send."},
		{"another page", "POST", "/api/chat", edit, "secret", []string{"Accept", "*/*", "Sec-Fetch-Site", "cross-site"}, 403, "foreign_origin", "text/plain", "Pages of another origin"},
		{"a program that accepts JSON", "POST", "/api/chat", edit, "secret", []string{"Accept", "application/json"}, 409, "busy", "application/json", `{"error":"busy","message":"The chat is busy`},
		{"a program that says nothing", "POST", "/api/chat", edit, "secret", nil, 409, "busy", "application/json", `{"error":"busy","message":"The chat is busy`},
		{"the page in Chinese", "POST", "/api/chat", edit, "secret", []string{"Accept", "application/json", "Accept-Language", "zh"}, 409, "busy", "application/json", `{"error":"busy","message":"这个聊天正在回答。`},
		{"an address for programs", "GET", "/api/chat/none", "", "secret", []string{"Accept", "*/*"}, 404, "not_found", "application/json", `{"error":"not_found"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			headers := tt.headers
			if tt.token != "" {
				headers = append(headers, "Authorization", "Bearer "+tt.token)
			}
			res := s.do(t, tt.method, tt.path, tt.body, headers...)
			body := readAll(t, res)
			if res.StatusCode != tt.status || !strings.HasPrefix(res.Header.Get("Content-Type"), tt.kind) || !strings.HasPrefix(body, tt.want) {
				t.Errorf("got %d %s %q, want %d %s %q", res.StatusCode, res.Header.Get("Content-Type"), body, tt.status, tt.kind, tt.want)
			}
			if tt.kind == "text/plain" && res.Header.Get(respond.CodeHeader) != tt.code {
				t.Errorf("got code %q, want %q", res.Header.Get(respond.CodeHeader), tt.code)
			}
		})
	}
}
