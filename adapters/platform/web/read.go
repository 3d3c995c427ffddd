package web

import (
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/adapters/platform/web/internal/follow"
	"github.com/shipmyagent/shipmyagent/adapters/platform/web/internal/request"
	"github.com/shipmyagent/shipmyagent/adapters/platform/web/internal/respond"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/messages/uistream"
)

// suggestions returns what the page offers in an empty chat: prompts that the demo model understands.
func suggestions(r *http.Request, about Info) []string {
	switch {
	case !about.Demo:
		return []string{}
	case respond.ReadsChinese(r):
		return []string{"你好", "流式演示", "使用工具", "先问我", "慢慢回答"}
	default:
		return []string{"hello", "show streaming", "use a tool", "ask first", "slow answer"}
	}
}

// info serves GET /api/info.
func (p *Platform) info(w http.ResponseWriter, r *http.Request) *respond.Problem {
	var about Info
	if p.opts.Info != nil {
		about = p.opts.Info()
	}
	respond.JSON(w, http.StatusOK, struct {
		Info
		Platform    string   `json:"platform"`
		Login       bool     `json:"login"`
		Suggestions []string `json:"suggestions"`
		Commands    []hint   `json:"commands"`
	}{about, p.opts.Platform, value(p.opts.Token) != "", suggestions(r, about), p.hints(respond.ReadsChinese(r))})
	return nil
}

// MostListed is how many chats can be listed at once. Each must be read for its title.
const MostListed = 1000

// chats serves GET /api/chats: the newest fifty, or as many as the parameter limit says.
func (p *Platform) chats(w http.ResponseWriter, r *http.Request) *respond.Problem {
	list := []ChatSummary{}
	if p.opts.Chats != nil {
		most, err := strconv.Atoi(r.URL.Query().Get("limit"))
		if err != nil {
			most = 50
		}
		found, err := p.opts.Chats(r.Context(), min(most, MostListed))
		if err != nil {
			return p.problem(r.Context(), "", "chats", err)
		}
		list = append(list, found...)
	}
	respond.JSON(w, http.StatusOK, list)
	return nil
}

// viewOf loads a chat, which exists from its first message on.
func (p *Platform) viewOf(r *http.Request, key messages.ChatKey) (platform.ChatView, *respond.Problem) {
	view, err := p.live.History(r.Context(), key)
	switch {
	case err != nil:
		return view, p.problem(r.Context(), key, "history", err)
	case len(view.Messages) == 0 && !request.IsBusy(view):
		return view, respond.NotFound()
	}
	return view, nil
}

// history serves GET /api/chat/{id}: what a client of the AI SDK starts with. It leaves out the
// message in progress, which resuming provides as a whole, and includes pending turns.
func (p *Platform) history(w http.ResponseWriter, r *http.Request, key messages.ChatKey) *respond.Problem {
	view, refusal := p.viewOf(r, key)
	if refusal != nil {
		return refusal
	}
	list := view.Messages
	if n := len(list); view.Running && n > 0 && list[n-1].Role == uimessage.RoleAssistant {
		list = list[:n-1]
	}
	respond.JSON(w, http.StatusOK, fetchable(r, r.PathValue("id"), slices.Concat([]uimessage.Message{}, shown(list), view.Waiting)))
	return nil
}

// wireView is a chat in the encoding for readers of frames.
type wireView struct {
	Kind     string              `json:"kind"`
	Messages []uimessage.Message `json:"messages"`
	Waiting  []uimessage.Message `json:"waiting"`
	Running  bool                `json:"running"`
	Counts   platform.Counts     `json:"counts"`
}

func newWireView(v platform.ChatView) wireView {
	return wireView{
		Kind:     "view",
		Messages: shown(v.Messages),
		Waiting:  append([]uimessage.Message{}, v.Waiting...),
		Running:  v.Running, Counts: v.Counts,
	}
}

// view serves GET /api/chat/{id}/view: history, pending turns and whether a run is in progress.
func (p *Platform) view(w http.ResponseWriter, r *http.Request, key messages.ChatKey) *respond.Problem {
	view, refusal := p.viewOf(r, key)
	if refusal == nil {
		respond.JSON(w, http.StatusOK, newWireView(view))
	}
	return refusal
}

// stop serves POST /api/chat/{id}/stop. With {"all": true} or ?all=1 it also drops the pending
// turns.
func (p *Platform) stop(w http.ResponseWriter, r *http.Request, key messages.ChatKey) *respond.Problem {
	all := r.URL.Query().Get("all") == "1"
	if strings.HasPrefix(r.Header.Get("Content-Type"), "application/json") {
		body, refusal := readJSON(w, r)
		var in struct {
			All bool `json:"all"`
		}
		if refusal == nil && len(body) > 0 && json.Unmarshal(body, &in) != nil {
			refusal = respond.BadRequest("bad_json", "The body is {\"all\": true} or empty.")
		}
		if refusal != nil {
			return refusal
		}
		all = all || in.All
	}
	stopped, err := p.live.Stop(r.Context(), key, p.opts.Owner, all)
	if err != nil {
		return p.problem(r.Context(), key, "stop", err)
	}
	respond.JSON(w, http.StatusOK, map[string]bool{"stopped": stopped})
	return nil
}

// resume serves GET /api/chat/{id}/stream: the message in progress from its first chunk, then live.
// It is preceded by complete messages whose streams were cut less than a minute ago, or less than a
// minute before the end of the message. The response is 204 if there is nothing to send.
func (p *Platform) resume(w http.ResponseWriter, r *http.Request, key messages.ChatKey) *respond.Problem {
	frames, err := p.live.Watch(r.Context(), key)
	if errors.Is(err, platform.ErrNotFound) { // like an idle chat
		w.WriteHeader(http.StatusNoContent)
		return nil
	}
	if err != nil {
		return p.problem(r.Context(), key, "watch", err)
	}
	view, refusal := p.look(r.Context(), key)
	if refusal != nil {
		return refusal
	}
	late := missed(view, p.cuts.take(key), time.Now())
	if len(late) == 0 && !request.IsBusy(view) {
		w.WriteHeader(http.StatusNoContent)
		return nil
	}
	s := p.openStream(w, readerOfChat(r, r.PathValue("id")))
	p.metrics.streams.Inc()
	defer p.metrics.streams.Dec()
	err = p.again(s, key, late, request.IsBusy(view))
	if err == nil && request.IsBusy(view) {
		err = p.followUp(r.Context(), s, key, frames, &follow.Follower{})
	}
	p.finish(r, key, s, err)
	return nil
}

// again sends complete messages one after the other; clients begin a new one at each start. Only
// the last message may end with an error, because clients stop reading there.
func (p *Platform) again(s *stream, key messages.ChatKey, late []uimessage.Message, more bool) error {
	for i, m := range late {
		chunks := new(follow.Follower).Whole(m)
		last := i == len(late)-1 && !more
		if !last {
			chunks = slices.DeleteFunc(chunks, func(c uistream.Chunk) bool { return c.Type() == "error" })
		}
		err := s.chunks(chunks)
		if err == nil && last {
			err = s.text(uistream.Done)
		}
		if err != nil {
			for _, m := range late[i:] {
				p.cuts.note(key, m.ID, "", time.Now())
			}
			return err
		}
	}
	return nil
}

// answerOf finds the message that first saw a turn. done is false while that message is in
// progress.
func answerOf(view platform.ChatView, turn string) (m uimessage.Message, found, done bool) {
	i := request.Index(view.Messages, turn)
	if i < 0 {
		return m, false, false
	}
	for j := i + 1; j < len(view.Messages); j++ {
		if view.Messages[j].Role == uimessage.RoleAssistant {
			return view.Messages[j], true, !view.Running || j < len(view.Messages)-1
		}
	}
	return m, false, false
}
