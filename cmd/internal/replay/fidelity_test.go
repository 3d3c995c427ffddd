package replay

import (
	"bytes"
	"context"
	"encoding/json"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/shipmyagent/shipmyagent/adapters/model"
	"github.com/shipmyagent/shipmyagent/adapters/model/modeltest"
	"github.com/shipmyagent/shipmyagent/adapters/platform/faketest"
	"github.com/shipmyagent/shipmyagent/config"
	"github.com/shipmyagent/shipmyagent/messages/modelmessage"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/persistence/filestore"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
)

// lookUp is what the archivist does at once.
const lookUp = "Look up: "

// archivist is a model that searches on demand, otherwise says little, and makes summaries of the material.
type archivist struct {
	mu    sync.Mutex
	found map[string]string // chat key and query: what the tool answered
}

func (a *archivist) Stream(_ context.Context, req model.Request) iter.Seq2[model.Event, error] {
	return func(yield func(model.Event, error) bool) {
		for _, e := range a.events(req) {
			if !yield(e, nil) {
				return
			}
		}
	}
}

func (a *archivist) events(req model.Request) []model.Event {
	say := func(text string) []model.Event { return append(modeltest.TextEvents(text), modeltest.Finish("stop")) }
	if len(req.Tools) == 0 {
		if strings.Contains(req.System, "## Identifiers") {
			return say(extracts(req))
		}
		return say("{}")
	}
	last := req.Messages[len(req.Messages)-1]
	for _, p := range slices.Backward(last.Parts) {
		switch p := p.(type) {
		case modelmessage.ToolResult:
			a.keep(req, p)
			return say("Looked up.")
		case modelmessage.Text:
			if query, ok := strings.CutPrefix(p.Text, lookUp); ok {
				input, err := json.Marshal(map[string]any{"query": query})
				if err != nil {
					return nil // Unreachable: a string
				}
				call := modeltest.Call{ID: "look_" + strconv.Itoa(len(req.Messages)), Name: "chat_history_search", Input: string(input)}
				return append(modeltest.CallEvents(call), modeltest.Finish("tool-calls"))
			}
		default:
		}
	}
	return say("Noted, that makes " + strconv.Itoa(len(req.Messages)) + ".")
}

// keep notes what the search said to the query before it.
func (a *archivist) keep(req model.Request, r modelmessage.ToolResult) {
	for _, m := range slices.Backward(req.Messages) {
		for _, p := range m.Parts {
			call, ok := p.(modelmessage.ToolCall)
			if !ok || call.ToolCallID != r.ToolCallID {
				continue
			}
			var in struct{ Query string }
			_ = json.Unmarshal(call.Input, &in) // its own
			text := r.Output.Text
			if text == "" {
				text = string(r.Output.JSON)
			}
			a.mu.Lock()
			a.found[chatOf(req)+" "+in.Query] = text
			a.mu.Unlock()
			return
		}
	}
}

// chatOf is the chat's key as the system text has it.
func chatOf(req model.Request) string {
	_, rest, _ := strings.Cut(req.System, `"telegram-chat-`)
	id, _, _ := strings.Cut(rest, `"`)
	return "telegram-chat-" + id
}

func (a *archivist) answer(p *place, query string) string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.found[string(p.key())+" "+query]
}

// extracts is a summary made of every tenth line of the material, unchanged. So most of the text is in the archive
// only.
func extracts(req model.Request) string {
	var b strings.Builder
	b.WriteString("## Facts\n")
	n := 0
	for text := range strings.Lines(req.Messages[0].Text) {
		var said struct{ Who, From, Text string }
		if n++; n%10 == 0 && json.Unmarshal([]byte(text), &said) == nil && said.Who == "user" {
			b.WriteString("- " + said.From + ": " + said.Text + "\n")
		}
	}
	b.WriteString("## Preferences\n## Decisions\n## Open items\n## Identifiers\n")
	return b.String()
}

type planted struct {
	fact
	place *place
	nick  string
	id    string // of the turn
	line  []byte // of the history, before it was compacted
}

// plant puts facts between the lines of the first half of each room, and returns
// them by the room's name and their words.
func plant(rooms []room, each int) map[string]fact {
	all := map[string]fact{}
	for i := range rooms {
		lines := rooms[i].lines
		facts := factsOf(i, each)
		gap := len(lines) / 2 / len(facts)
		var out []line
		for j, l := range lines {
			out = append(out, l)
			if j%gap == gap-1 && j/gap < len(facts) {
				f := facts[j/gap]
				out = append(out, line{nick: l.nick, text: f.text})
				all[rooms[i].name+" "+f.text] = f
			}
		}
		rooms[i].lines = out
	}
	return all
}

// TestFidelity: in real rooms, in which everything is said to the bot, people say
// facts that are compacted long before somebody asks. Each is found by a question that
// does not quote it, in the tool's answer to the model, and the place that the
// answer names holds the turn byte for byte.
func TestFidelity(t *testing.T) {
	names, each := []string{"2004-11-15_03", "ubuntu-meeting.0"}, 2
	if soak() {
		names = nil
	}
	rooms := readRooms(t, names...)
	facts := plant(rooms, each)
	a := &archivist{found: map[string]string{}}
	w := newTown(t, rooms, a)
	dir := w.project(t, config.EgressDirect, config.GroupsAll)
	h := start(t, w, dir)
	said := w.tell(t, h, facts, dir)
	if len(said) != len(facts) {
		t.Fatalf("%d facts of %d were said", len(said), len(facts))
	}
	for _, p := range w.places {
		checkCompacted(t, p, dir, said)
	}
	found, first := 0, 0
	for _, batch := range onePerPlace(said) {
		for _, f := range batch {
			w.say(f.place, line{nick: f.nick, text: lookUp + f.question})
		}
		// Figures are not taken all at one moment: what a chat has just accepted may not be
		// counted as open yet.
		faketest.Poll(t, "the searches to answer", func() bool {
			return !slices.ContainsFunc(batch, func(f *planted) bool { return a.answer(f.place, f.question) == "" })
		})
		w.rest(t, h)
		for _, f := range batch {
			switch rank := checkFound(t, f, a.answer(f.place, f.question), dir); rank {
			case 0:
			case 1:
				first++
				fallthrough
			default:
				found++
			}
		}
	}
	t.Logf("found %d/%d facts, %d of them as the first result, each reopened byte for byte; rooms: %d", found, len(said), first, len(w.places))
	h.stop(t)
	for _, err := range w.model.Faults() {
		t.Errorf("a strict provider refuses a request: %v", err)
	}
}

// rest waits until all that was said is answered.
func (w *town) rest(t *testing.T, h *running) {
	t.Helper()
	all, _ := w.said()
	h.awaitRest(t, all)
}

// tell says all lines of all rooms, a few at a time so that no turn is declined,
// and notes the stored line of each fact while it is in the history.
func (w *town) tell(t *testing.T, h *running, facts map[string]fact, dir string) (out []*planted) {
	t.Helper()
	const few = 12
	for from, more := 0, true; more; from += few {
		more = false
		var fresh []*planted
		for _, p := range w.places {
			for _, l := range p.lines[min(from, len(p.lines)):min(from+few, len(p.lines))] {
				more = true
				l.addressed = false // everything is for the bot here, as it was said
				s := w.say(p, l)
				if f, ok := facts[p.name+" "+l.text]; ok {
					fresh = append(fresh, &planted{fact: f, place: p, nick: l.nick, id: "u:" + string(p.key()) + ":" + num(s.id)})
				}
			}
		}
		w.rest(t, h)
		for _, f := range fresh {
			f.line = storedLine(t, f, dir)
		}
		out = append(out, fresh...)
	}
	return out
}

func chatDir(t *testing.T, p *place, dir string) string {
	t.Helper()
	path, err := filestore.ChatDir(stateOf(dir), p.key())
	stdtest.Must(t, err)
	return path
}

func storedLine(t *testing.T, f *planted, dir string) []byte {
	t.Helper()
	b := stdtest.Read(t, filepath.Join(chatDir(t, f.place, dir), "messages", "history.jsonl"))
	var found []byte
	for l := range bytes.Lines(b) {
		if m, ok := filestore.ParseTurn(bytes.TrimSpace(l)); ok && m.ID == f.id {
			found = bytes.Clone(bytes.TrimSpace(l))
		}
	}
	if found == nil {
		t.Fatalf("%s is not in the history of %s", f.id, f.place.name)
	}
	return found
}

// checkFolded: no fact is left in what the model would see of the chat as it was said.
func checkCompacted(t *testing.T, p *place, dir string, said []*planted) {
	t.Helper()
	archives, err := filepath.Glob(filepath.Join(chatDir(t, p, dir), "messages", "archive", "*.json"))
	if err != nil || len(archives) < 2 {
		t.Errorf("%s: compacted %d times, %v", p.name, len(archives), err)
	}
	b, err := os.ReadFile(filepath.Join(chatDir(t, p, dir), "messages", "history.jsonl"))
	stdtest.Must(t, err)
	for _, f := range said {
		if f.place == p && bytes.Contains(b, []byte(`"id":`+strconv.Quote(f.id))) {
			t.Errorf("%s: %s is still in the history", p.name, f.id)
		}
	}
}

// onePerPlace are rounds in which every room is asked at most once.
func onePerPlace(said []*planted) (rounds [][]*planted) {
	n := map[*place]int{}
	for _, f := range said {
		if n[f.place] == len(rounds) {
			rounds = append(rounds, nil)
		}
		rounds[n[f.place]] = append(rounds[n[f.place]], f)
		n[f.place]++
	}
	return rounds
}

// checkFound returns the number of the result that has the fact, from 1 on, or 0.
func checkFound(t *testing.T, f *planted, answer, dir string) (rank int) {
	t.Helper()
	var a struct {
		Results []struct {
			Place, From string
			Message     uimessage.Message
		}
	}
	if err := json.Unmarshal([]byte(answer), &a); err != nil {
		t.Errorf("%s: %q answers %q: %v", f.place.name, f.question, answer, err)
		return 0
	}
	for i, r := range a.Results {
		if r.Message.ID != f.id {
			continue
		}
		text, _ := r.Message.Parts[0].(uimessage.Text)
		if text.Text != f.text || r.From != f.nick {
			t.Errorf("%s: %q finds %q of %s, want %q of %s", f.place.name, f.question, text.Text, r.From, f.text, f.nick)
		}
		checkReopens(t, f, r.Place, dir)
		return i + 1
	}
	t.Errorf("%s: %q does not find %q, but %s", f.place.name, f.question, f.text, answer)
	return 0
}

// checkReopens checks that the archive has the line unchanged, and is named by the arrival numbers of its turns.
func checkReopens(t *testing.T, f *planted, where, dir string) {
	t.Helper()
	file, number, _ := strings.Cut(where, ":")
	n, err := strconv.Atoi(number)
	if err != nil || !strings.HasPrefix(file, "messages/archive/") {
		t.Errorf("%s: %s is no place in the archive", f.id, where)
		return
	}
	b, err := os.ReadFile(filepath.Join(chatDir(t, f.place, dir), filepath.FromSlash(file)))
	var archive journal.Archive
	if err == nil {
		err = json.Unmarshal(b, &archive)
	}
	if err != nil || archive.ChatKey != f.place.key() || n < 1 || n > len(archive.Lines) || archive.Lines[n-1] != string(f.line) {
		t.Errorf("%s: %s does not hold %s: %v", f.id, where, f.line, err)
		return
	}
	first, _ := filestore.ParseTurn([]byte(archive.Lines[0]))
	last, _ := filestore.ParseTurn([]byte(archive.Lines[len(archive.Lines)-1]))
	if want := "-" + num(seqOf(first)) + "-" + num(seqOf(last)) + ".json"; !strings.HasSuffix(file, want) {
		t.Errorf("%s: %s is not named after its turns, %s", f.id, file, want)
	}
}

func seqOf(m uimessage.Message) int64 { return journal.NewTurn(m).Meta.Seq }
