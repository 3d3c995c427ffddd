package web

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/adapters/platform/faketest"
	"github.com/shipmyagent/shipmyagent/adapters/platform/platformtest"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

// managed holds chats that people delete and rename.
type managed struct {
	mu     sync.Mutex
	titles map[messages.ChatKey]string
	gone   []messages.ChatKey
}

func (m *managed) options(o *Options) {
	o.Chats = func(context.Context, int) ([]ChatSummary, error) {
		m.mu.Lock()
		defer m.mu.Unlock()
		var out []ChatSummary
		for k, title := range m.titles {
			out = append(out, ChatSummary{ID: strings.TrimPrefix(string(k), "web-chat-"), Title: title})
		}
		return out, nil
	}
	o.Forget = func(_ context.Context, k messages.ChatKey) error {
		m.mu.Lock()
		defer m.mu.Unlock()
		if _, ok := m.titles[k]; !ok {
			return platform.ErrNotFound
		}
		delete(m.titles, k)
		m.gone = append(m.gone, k)
		return nil
	}
	o.Rename = func(_ context.Context, k messages.ChatKey, title string) error {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.titles[k] = title
		return nil
	}
}

func (m *managed) title(k messages.ChatKey) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.titles[k]
}

func (m *managed) deleted() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.gone)
}

func TestManageChats(t *testing.T) {
	m := &managed{titles: map[messages.ChatKey]string{key: "roses"}}
	s := newServer(t, m.options)
	for _, tt := range []struct {
		name, method, path, body string
		want                     int
	}{
		{"a title", "PUT", "/api/chat/c1/title", `{"title":"  my \n roses "}`, 204},
		{"no title", "PUT", "/api/chat/c1/title", `{}`, 400},
		{"a long title", "PUT", "/api/chat/c1/title", `{"title":"` + strings.Repeat("x", 121) + `"}`, 400},
		{"another chat", "DELETE", "/api/chat/other", ``, 404},
		{"a chat", "DELETE", "/api/chat/c1", ``, 204},
		{"again", "DELETE", "/api/chat/c1", ``, 404},
	} {
		if got := s.do(t, tt.method, tt.path, tt.body); got.StatusCode != tt.want {
			t.Errorf("%s: %d, want %d", tt.name, got.StatusCode, tt.want)
		}
		if tt.name == "a title" && m.title(key) != "my roses" {
			t.Errorf("the title is %q", m.title(key))
		}
	}
	if bare := newServer(t, nil); bare.do(t, "DELETE", "/api/chat/c1", "").StatusCode != 404 {
		t.Error("a chat is deleted where nobody deletes any")
	}
	if got := s.do(t, "DELETE", "/api/chat/c1", "", "Origin", "https://elsewhere.example"); got.StatusCode != 403 {
		t.Errorf("another site deletes a chat: %d", got.StatusCode)
	}
}

// On the page both show a dialog first: only a confirmation deletes, and the title is typed in the
// dialog.
func TestPageDeletesAndRenames(t *testing.T) {
	b := newBrowser(t)
	m := &managed{titles: map[messages.ChatKey]string{key: "roses"}}
	s := newServer(t, m.options)
	s.live.Chat(key).History = longChat(1)
	b.open(s.URL + "/#/c/c1")
	b.Until(`document.querySelectorAll('.msg').length === 2 && !document.getElementById('forget').hidden`)
	b.Until(`document.querySelector('#chats a')?.textContent === 'roses'`)

	b.Eval(`document.getElementById('rename').click()`)
	b.Until(`document.getElementById('ask').open && document.getElementById('answer').value === 'roses'`)
	b.Eval(`(() => { document.getElementById('answer').value = 'my garden'; document.getElementById('yes').click(); })()`)
	b.Until(`document.querySelector('#chats a')?.textContent === 'my garden'`)
	// The question names the chat, whatever its title contains.
	b.Eval(`(() => { document.getElementById('forget').click(); })()`)
	b.Until(`document.getElementById('question').textContent.startsWith('Delete the chat “\u2068my garden\u2069” for good?')`)
	b.Eval(`document.querySelector('#ask button[value=no]').click()`)

	b.Eval(`document.getElementById('forget').click()`)
	b.Until(`document.getElementById('ask').open && document.getElementById('answer').hidden`)
	b.Shoot("delete-dialog")
	b.Eval(`document.querySelector('#ask button[value=no]').click()`)
	b.Until(`!document.getElementById('ask').open`)
	if m.deleted() > 0 {
		t.Fatal("a no deletes the chat")
	}
	b.Eval(`document.getElementById('forget').click()`)
	b.Until(`document.getElementById('ask').open`)
	b.Eval(`(() => { document.getElementById('ask').dispatchEvent(new Event('cancel')); document.getElementById('ask').close(); return new Promise((done) => setTimeout(done, 50)); })()`) // the escape key
	if m.deleted() > 0 {
		t.Fatal("the escape key deletes the chat")
	}
	b.Eval(`document.getElementById('forget').click()`)
	b.Until(`document.getElementById('ask').open`)
	b.Eval(`document.getElementById('yes').click()`)
	b.Until(`document.querySelectorAll('.msg').length === 0 && document.querySelectorAll('#chats a').length === 0 && !location.hash.endsWith('/c1') && document.getElementById('forget').hidden`)
	if m.deleted() != 1 {
		t.Errorf("%d chats were deleted", m.deleted())
	}
	if left := b.Eval(`localStorage.getItem('sma.chats')`); strings.Contains(left, "garden") {
		t.Errorf("the browser remembers %s", left)
	}
	wantQuiet(t, b)
}

// A deletion may take longer than the platform gives its own requests.
func TestForgetMayTakeLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, err := New(Options{Live: platformtest.NewLive(), Open: true, Forget: func(context.Context, messages.ChatKey) error {
			<-time.After(time.Minute) // simulated
			return nil
		}})
		stdtest.Must(t, err)
		pipe := faketest.NewPipe(t)
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- p.Serve(ctx, pipe) }()
		req, err := http.NewRequestWithContext(t.Context(), http.MethodDelete, "http://localhost/api/chat/c1", http.NoBody)
		stdtest.Must(t, err)
		if got := send(t, pipe.Client(), req).StatusCode; got != http.StatusNoContent {
			t.Errorf("got %d, want 204", got)
		}
		stop()
		if err := <-ended; err != nil {
			t.Errorf("ended with %v", err)
		}
	})
}
