package replay

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/shipmyagent/shipmyagent/adapters/model"
	"github.com/shipmyagent/shipmyagent/adapters/model/modeltest"
	"github.com/shipmyagent/shipmyagent/adapters/platform/telegramtest"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

// modelKey is what the fake model knows its caller by.
const modelKey = "CANARY-model-key-not-to-be-printed"

// said is a line as the platform carries it.
type said struct {
	line
	id    int64  // the platform's message id
	text  string // what stands in the message
	user  int64
	joins bool // a later file of an album whose first is for the bot

	quoted  quotedMessage  // the message that it answers
	shows   *shown         // the picture of that message
	carries []shown        // its own files
	members map[string]any // of the message, that an answer to it repeats
}

// from is the name of its sender as the model reads it: one line.
func (s said) from() string {
	return strings.Join(strings.Fields(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) && r != '\u200d' {
			return ' '
		}
		return r
	}, s.nick)), " ")
}

// place is a room as a supergroup.
type place struct {
	room
	chat int64
	said []said // what was fed so far
	all  bool   // all of it is for the bot
}

func (p *place) key() messages.ChatKey { return messages.NewChatKey("telegram", "", p.id(), 0) }

func (p *place) id() string { return num(p.chat) }

// asked are the lines that address the bot, as fed so far.
func (p *place) asked() []said {
	return slices.DeleteFunc(slices.Clone(p.said), func(s said) bool { return !s.addressed || s.joins })
}

// joined are the further files of albums among them.
func (p *place) joined() []said {
	return slices.DeleteFunc(slices.Clone(p.said), func(s said) bool { return !s.joins })
}

// town is everything outside the host: the platform with its rooms, and the model.
type town struct {
	api    *telegramtest.API
	model  *modeltest.Server
	places []*place
	users  map[string]int64 // nick: id; the same person in every room
	update int64            // id of the first update
	budget int              // of a chat in tokens; 0: the usual one

	read  int                  // how many requests were taken into asked
	asked map[*place][]request // what the model was asked
}

func newTown(tb testing.TB, rooms []room, m model.Model) *town {
	tb.Helper()
	w := &town{
		api: telegramtest.NewAPI(tb), model: modeltest.NewServer(m, modeltest.ServerOptions{Key: modelKey}),
		users: map[string]int64{}, asked: map[*place][]request{},
	}
	tb.Cleanup(w.model.Close)
	for i, r := range rooms {
		p := &place{room: r, chat: -1001700000000 - int64(i)}
		w.api.AddChat(telegramtest.Chat{ID: p.chat, Type: "supergroup", Title: "Room " + r.name})
		w.places = append(w.places, p)
		for _, l := range r.lines {
			if w.users[l.nick] == 0 {
				w.users[l.nick] = 5_000_000 + int64(len(w.users))
			}
		}
	}
	w.update = w.api.Inject("poll", map[string]any{"id": "1"}) + 1 // of a kind that the host does not want
	return w
}

// say makes somebody write the next line of a room.
func (w *town) say(p *place, l line) said {
	s := said{line: l, text: l.text, user: w.users[l.nick]}
	more := map[string]any{"from": telegramtest.User(s.user, l.nick), "date": 1700000000 + len(p.said)}
	if l.addressed {
		mention := "@" + telegramtest.BotName
		s.text = mention + l.words
		more["entities"] = []any{telegramtest.Entity("mention", 0, len(mention))}
	}
	s.addressed = s.addressed || p.all
	if l.answers != "" {
		w.answer(p, &s, more)
	}
	if l.kind != "" {
		return w.send(p, s, more)
	}
	s.id, s.members = w.api.Say(p.chat, s.user, s.text, more), map[string]any{"text": s.text}
	p.said = append(p.said, s)
	return s
}

// due is a line with its place in a replay, from 0 to 1.
type due struct {
	at    float64
	place *place
	line  line
}

// script are the lines of all rooms in the order in which they are said: each
// room is spread over the whole replay.
func (w *town) script() []due {
	var out []due
	for _, p := range w.places {
		for i, l := range p.lines {
			out = append(out, due{(float64(i) + 0.5) / float64(len(p.lines)), p, l})
		}
	}
	slices.SortStableFunc(out, func(a, b due) int { return cmp.Compare(a.at, b.at) })
	return out
}

// feed says lines, spread evenly over a time.
func (w *town) feed(ctx context.Context, script []due, within time.Duration) error {
	const burst = 20 * time.Millisecond
	tick := time.NewTicker(burst)
	defer tick.Stop()
	began := time.Now()
	for n := 0; n < len(script); {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-tick.C:
		}
		now := float64(time.Since(began)) / float64(within)
		for n < len(script) && float64(n) <= now*float64(len(script)) {
			w.say(script[n].place, script[n].line)
			n++
		}
	}
	return nil
}

// awaitAnswers waits until everybody was answered; what is never answered is named.
func (w *town) awaitAnswers(tb testing.TB) {
	tb.Helper()
	for _, p := range w.places {
		for _, s := range p.asked() {
			w.api.Await(tb, fmt.Sprintf("the answer to message %d in %s, %.60q with %+v", s.id, p.name, s.text, s.extra), func() bool {
				return slices.ContainsFunc(w.api.Sent(p.chat), func(m telegramtest.Sent) bool {
					return slices.ContainsFunc(quotes(m.Text), func(h header) bool { return h.Msg == num(s.id) })
				})
			})
		}
	}
}

// project writes a project that works for the town. groups says which lines of a
// group are for the bot.
func (w *town) project(tb testing.TB, egress, groups string) (dir string) {
	tb.Helper()
	dir = tb.TempDir()
	history := map[string]any{}
	if w.budget > 0 {
		history["maxInputTokensApprox"] = w.budget
	}
	settings, err := json.MarshalIndent(map[string]any{
		"context": map[string]any{"history": history},
		"name":    "replay", "timezone": "UTC",
		"llm": map[string]any{"provider": "custom", "model": "clerk", "baseUrl": w.model.URL},
		"adapters": map[string]any{
			"telegram": map[string]any{
				"baseUrl": w.api.URL(), "access": "open", "groups": groups, "rateLimit": "off", "egress": egress,
			},
			"web": map[string]any{"enabled": false}, "cli": map[string]any{"enabled": false},
		},
		"metrics": map[string]any{"listen": "127.0.0.1:0"},
	}, "", "  ")
	stdtest.Must(tb, err)
	for name, text := range map[string]string{"Agent.md": "You answer everybody.\n", "ship.json": string(settings)} {
		stdtest.Must(tb, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	return dir
}

func (w *town) env() map[string]string {
	return map[string]string{"OPENAI_API_KEY": modelKey, "TELEGRAM_BOT_TOKEN": w.api.Token()}
}

// noSecrets holds a log against the secrets.
func noSecrets(tb testing.TB, secrets map[string]string, log string) {
	tb.Helper()
	for name, secret := range secrets {
		if strings.Contains(log, secret) {
			tb.Errorf("the log holds %s", name)
		}
	}
}
