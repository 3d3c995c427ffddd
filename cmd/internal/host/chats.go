package host

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/adapters/platform/web"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
)

// noChat is the cached title of a chat without messages.
const noChat = "\x00"

// titles caches the titles of chats until the chats change.
type titles struct {
	mu    sync.Mutex
	known map[messages.ChatKey]title
}

type title struct {
	at   time.Time
	text string
}

func (t *titles) get(key messages.ChatKey, at time.Time) (string, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	found, ok := t.known[key]
	return found.text, ok && found.at.Equal(at)
}

func (t *titles) put(key messages.ChatKey, at time.Time, text string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.known) > 2*web.MostListed {
		clear(t.known)
	}
	t.known[key] = title{at, text}
}

// chatLister lists the chats of one platform, newest first, with titles.
func (h *Host) chatLister(name string, live platform.Live) func(ctx context.Context, most int) ([]web.ChatSummary, error) {
	memory, desk := &titles{known: map[messages.ChatKey]title{}}, h.desk()
	prefix := name + "-chat-"
	return func(ctx context.Context, most int) ([]web.ChatSummary, error) {
		all, err := desk.ListChats(ctx)
		if err != nil {
			return nil, err
		}
		out := []web.ChatSummary{}
		for _, c := range all {
			id, ok := strings.CutPrefix(string(c.ChatKey), prefix)
			if !ok {
				continue
			}
			if len(out) >= most {
				break
			}
			text, ok := memory.get(c.ChatKey, c.UpdatedAt)
			if given := h.preferences.Title(c.ChatKey); given != "" {
				text, ok = given, true
			}
			if !ok {
				view, err := live.History(ctx, c.ChatKey)
				switch {
				case ctx.Err() != nil:
					return nil, err
				case err != nil: // the other chats are listed all the same
					text = id
				default:
					text = titleOf(view)
					if len(view.Messages)+len(view.Waiting) == 0 {
						text = noChat
					}
					memory.put(c.ChatKey, c.UpdatedAt, text)
				}
			}
			if text == noChat {
				continue // deleted: only its ids are left
			}
			out = append(out, web.ChatSummary{ID: id, Title: text, UpdatedAt: c.UpdatedAt})
		}
		return out, nil
	}
}

// titleOf is the beginning of the first text that a user wrote.
func titleOf(view platform.ChatView) string {
	const limit = 60
	for _, m := range slices.Concat(view.Messages, view.Waiting) {
		if m.Role != uimessage.RoleUser {
			continue
		}
		text := strings.Join(strings.Fields(journal.Text(m)), " ")
		if runes := []rune(text); len(runes) > limit {
			return string(runes[:limit]) + "…"
		}
		if text != "" {
			return text
		}
	}
	return ""
}
