package replay

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/shipmyagent/shipmyagent/adapters/model/modeltest"
	"github.com/shipmyagent/shipmyagent/adapters/platform/feishutest"
	"github.com/shipmyagent/shipmyagent/cmd/internal/query"
	"github.com/shipmyagent/shipmyagent/config"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
	"github.com/shipmyagent/shipmyagent/persistence/filestore"
)

// village is a town of Feishu groups, in which all that is said is for the bot.
type village struct {
	api   *feishutest.API
	model *modeltest.Server
	dir   string
	rooms []*hamlet
	users map[string]string // nick: open id
	done  int               // messages so far
}

// hamlet is a room as a group.
type hamlet struct {
	room
	chat string
	want []seen // what the model has to read
}

func (r *hamlet) key() messages.ChatKey { return messages.NewChatKey("feishu", "", r.chat, 0) }

func newVillage(t *testing.T, rooms []room) *village {
	t.Helper()
	v := &village{
		api: feishutest.NewAPI(t), model: modeltest.NewServer(clerk{}, modeltest.ServerOptions{Key: modelKey}), dir: t.TempDir(), users: map[string]string{},
	}
	t.Cleanup(v.model.Close)
	for i, r := range rooms {
		h := &hamlet{room: r, chat: "oc_" + strconv.Itoa(i)}
		v.api.AddChat(h.chat, "group")
		v.rooms = append(v.rooms, h)
		for _, l := range r.lines {
			if v.users[l.nick] == "" {
				v.users[l.nick] = "ou_" + strconv.Itoa(len(v.users)+1)
			}
		}
	}
	settings, err := json.Marshal(map[string]any{
		"name": "replay", "timezone": "UTC", "context": map[string]any{"history": map[string]any{"maxInputTokensApprox": 1_000_000}},
		"llm": map[string]any{"provider": "custom", "model": "clerk", "baseUrl": v.model.URL},
		"adapters": map[string]any{
			"feishu": map[string]any{
				"enabled": true, "appId": feishutest.App, "baseUrl": v.api.URL(), "access": "open", "receive": "connection",
				"groups": map[string]any{"*": map[string]any{"addressed": "always"}}, "egress": config.EgressTool,
			},
			"web": map[string]any{"enabled": false}, "cli": map[string]any{"enabled": false},
		},
		"metrics": map[string]any{"listen": "127.0.0.1:0"},
	})
	stdtest.Must(t, err)
	for name, text := range map[string]string{"Agent.md": "You answer everybody.\n", "ship.json": string(settings)} {
		stdtest.Must(t, os.WriteFile(filepath.Join(v.dir, name), []byte(text), 0o600))
	}
	return v
}

func (v *village) start(t *testing.T) *running {
	t.Helper()
	h := startWith(t, map[string]string{
		"OPENAI_API_KEY": modelKey, "SMA_ADAPTERS_FEISHU_APP_SECRET": v.api.Secret(), "SMA_ADAPTERS_FEISHU_ENCRYPT_KEY": v.api.EncryptKey(),
	}, v.dir)
	v.api.Await(t, "a connection", func() bool { open, _ := v.api.Links(); return open > 0 })
	return h
}

// say makes somebody write the next line of a room. A photo in the line is an image by
// itself or, with words, rich text; nothing but the latter answers a message.
func (v *village) say(r *hamlet, l line) {
	from, more, words := v.users[l.nick], map[string]any{}, []string{l.text}
	if sent := v.api.Sent(r.chat); l.answers == toBot && len(sent) > 0 {
		more["parent_id"] = sent[l.pick%len(sent)].ID
	} else if l.answers == toMember && len(r.want) > 0 {
		more["parent_id"] = r.want[l.pick%len(r.want)].Header.Msg
	}
	id := ""
	switch {
	case l.kind == "":
		id = v.api.Say(r.chat, from, l.text, more)
	case l.kind == kindSticker: // the service hands none of them out
		id, words = v.api.SayFile(r.chat, from, "sticker", "", nil, nil), []string{"[sticker]"}
	case l.kind == kindDocument:
		id = v.api.SayFile(r.chat, from, "file", l.files[0], contentOf(l.files[0]), nil)
		words = shown{kind: kindDocument, name: l.files[0]}.parts()
	case l.silent:
		id = v.api.SayFile(r.chat, from, "image", "", contentOf(l.files[0]), nil)
		words = shown{kind: kindPhoto, name: l.files[0]}.parts()
	default:
		rows, images := []any{[]any{map[string]any{"tag": "text", "text": l.text}}}, [][]byte{}
		for i, name := range l.files {
			rows = append(rows, []any{map[string]any{"tag": "img", "image_key": fmt.Sprintf("{image %d}", i)}})
			images = append(images, contentOf(name))
			words = append(words, shown{kind: kindPhoto, name: name}.parts()...)
		}
		content, err := json.Marshal(map[string]any{"title": "", "content": rows})
		if err != nil {
			return // Unreachable: strings
		}
		id = v.api.SayPost(r.chat, from, string(content), images, more)
	}
	v.done++
	r.want = append(r.want, seen{Header: header{From: from, User: from, Msg: id}, Parts: words})
}

// answers are those that people in a room have got.
func (v *village) answers(r *hamlet) (got []header) {
	for _, m := range v.api.Sent(r.chat) {
		got = append(got, quotes(m.Text)...)
	}
	return got
}

// rest waits until everybody has an answer.
func (v *village) rest(t *testing.T) {
	t.Helper()
	for _, r := range v.rooms {
		v.api.Await(t, "answers in "+r.name, func() bool { return len(v.answers(r)) >= len(r.want) })
	}
}

// check holds what the model saw and what people got against what was said.
func (v *village) check(t *testing.T) {
	t.Helper()
	for _, err := range v.model.Faults() {
		t.Errorf("a strict provider refuses a request: %v", err)
	}
	asked := map[string][]request{}
	for _, body := range v.model.Bodies() {
		if isTaskOfHost(body) {
			continue
		}
		r, err := parseRequest(body)
		stdtest.Must(t, err)
		owner := slices.IndexFunc(v.rooms, func(h *hamlet) bool { return strings.Contains(r.system, strconv.Quote(string(h.key()))) })
		if owner < 0 {
			t.Fatal("a request without a chat key")
		}
		asked[v.rooms[owner].chat] = append(asked[v.rooms[owner].chat], r)
	}
	for _, h := range v.rooms {
		requests := asked[h.chat]
		for i, r := range requests {
			if i > 0 && hidden(r.users) == hidden(requests[i-1].users) && !extends(requests[i-1].messages, r.messages) {
				t.Errorf("%s: request %d does not begin with the bytes of the one before", h.name, i)
			}
			if diff := gocmp.Diff(aged(h.want[:min(len(r.users), len(h.want))]), withoutTimes(r.users)); diff != "" {
				t.Errorf("%s: user turns of request %d of %d (-want +got):\n%s", h.name, i+1, len(requests), diff)
				break
			}
		}
		if n := len(requests); n == 0 || len(requests[n-1].users) != len(h.want) {
			t.Errorf("%s: not all %d turns are in the last of %d requests", h.name, len(h.want), n)
		}
		var want []header
		for _, s := range h.want {
			want = append(want, header{Msg: s.Header.Msg, User: s.Header.User})
		}
		if diff := gocmp.Diff(want, v.answers(h)); diff != "" {
			t.Errorf("%s: answers (-asked +got):\n%s", h.name, diff)
		}
	}
}

// checkStore holds the records of chats against what was said.
func (v *village) checkStore(t *testing.T) (merged int64) {
	t.Helper()
	store, err := filestore.Open(filestore.Options{Dir: stateOf(v.dir)})
	stdtest.Must(t, err)
	defer func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	}()
	for _, r := range v.rooms {
		doc, err := query.ReadChat(t.Context(), store, r.key())
		stdtest.Must(t, err)
		c, n := doc.Counts, int64(len(r.want))
		if c.Accepted != n || c.Open != 0 || c.Pending != 0 || c.Fates["answered"]+c.Fates["merged"] != n {
			t.Errorf("%s: %d were said; the chat has %+v", r.name, n, c)
		}
		merged += c.Fates["merged"]
	}
	return merged
}

// TestFeishuMixed plays rooms as Feishu groups with images, rich text, files, stickers
// and answers among the lines, while the host is stopped and started at random places: all
// that was said is durable then, and most of it is neither fetched nor answered.
func TestFeishuMixed(t *testing.T) {
	t.Parallel()
	const stops, each, most = 3, 12, 60
	rooms, seed := withoutOrders(someRooms(t, "2004-11-15_03", "2008-12-11_11", "2011-11-13_02", "rust.1"), most), seedOf(t)
	count, random := mix(rooms, seed, 3), rand.New(rand.NewPCG(seed, 99))
	v := newVillage(t, rooms)
	h := v.start(t)
	for from, stopped := 0, 0; from < most; from += each {
		at := random.IntN(each)
		for i := from; i < from+each; i++ {
			for _, r := range v.rooms {
				if i < len(r.lines) {
					v.say(r, r.lines[i])
				}
			}
			if i-from == at && stopped < stops {
				stopped++
				v.api.Await(t, "all to be taken", v.api.Idle)
				h.stop(t)
				h = v.start(t)
			}
		}
		v.rest(t)
	}
	h.stop(t)
	v.check(t)
	merged := v.checkStore(t)
	pictures := 0
	for _, r := range v.rooms {
		pictures += countShown(r.want)
	}
	t.Logf("%d rooms, %d messages, %d merged, %d pictures shown to the model, %d stops; planned: %v", len(v.rooms), v.done, merged, pictures, stops, count)
	if merged == 0 || pictures == 0 {
		t.Error("nothing was merged, or no picture shown")
	}
}
