package replay

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
)

// seen is a user turn as the model read it: who sent it, the message that it answers,
// and its parts with the pictures among them.
type seen struct {
	Header header
	Quoted quotedMessage
	Parts  []string
}

type request struct {
	raw      []byte
	messages json.RawMessage
	system   string
	users    []seen
	answers  []header
}

func parseRequest(body []byte) (request, error) {
	var b struct {
		Messages json.RawMessage `json:"messages"`
	}
	var all []struct {
		Role      string          `json:"role"`
		Content   json.RawMessage `json:"content"`
		ToolCalls []struct {
			Function struct {
				Arguments string `json:"arguments"`
			} `json:"function"`
		} `json:"tool_calls"`
	}
	if err := json.Unmarshal(body, &b); err != nil {
		return request{}, err
	}
	if err := json.Unmarshal(b.Messages, &all); err != nil {
		return request{}, err
	}
	out := request{raw: body, messages: b.Messages}
	for _, m := range all {
		texts, err := contentTexts(m.Content)
		if err != nil {
			return request{}, err
		}
		switch m.Role {
		case "system":
			out.system += strings.Join(texts, "")
		case "user":
			s, err := readTurn(texts)
			if err != nil {
				return request{}, err
			}
			out.users = append(out.users, s)
		case "assistant":
			for _, text := range texts {
				out.answers = append(out.answers, quotes(text)...)
			}
			for _, c := range m.ToolCalls {
				out.answers = append(out.answers, quotes(c.Function.Arguments)...)
			}
		}
	}
	return out, nil
}

// contentTexts are the parts of a message; pictures and documents by what they show.
func contentTexts(raw json.RawMessage) ([]string, error) {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return []string{text}, nil
	}
	var parts []struct {
		Type  string `json:"type"`
		Text  string `json:"text"`
		Image struct {
			URL string `json:"url"`
		} `json:"image_url"`
		File struct {
			Data string `json:"file_data"`
		} `json:"file"`
	}
	_ = json.Unmarshal(raw, &parts) // nothing else comes: the body was judged strictly
	var out []string
	for _, p := range parts {
		switch p.Type {
		case "image_url", "file":
			shown, err := shows(p.Image.URL + p.File.Data)
			if err != nil {
				return nil, err
			}
			out = append(out, shown)
		default:
			out = append(out, p.Text)
		}
	}
	return out, nil
}

// isTaskOfHost reports whether a request is not a chat's: notes for the memory and
// summaries are made from a record, which is material of one message without tools.
func isTaskOfHost(body []byte) bool {
	var b struct {
		Tools json.RawMessage `json:"tools"`
	}
	return json.Unmarshal(body, &b) == nil && b.Tools == nil
}

// requests are the requests by chat, in order of arrival. Each has passed the
// strict provider, which is what the server is.
func (w *town) requests(tb testing.TB) map[*place][]request {
	tb.Helper()
	for _, err := range w.model.Faults() {
		tb.Errorf("a strict provider refuses a request: %v", err)
	}
	for _, body := range w.model.Bodies()[w.read:] {
		w.read++
		if isTaskOfHost(body) {
			continue
		}
		r, err := parseRequest(body)
		stdtest.Must(tb, err)
		owner := slices.IndexFunc(w.places, func(p *place) bool { return strings.Contains(r.system, strconv.Quote(string(p.key()))) })
		if owner < 0 {
			tb.Fatal("a request without a chat key")
		}
		w.asked[w.places[owner]] = append(w.asked[w.places[owner]], r)
	}
	return w.asked
}

// checkRequests holds what the model saw against what was said.
func (w *town) checkRequests(tb testing.TB) (several int) {
	tb.Helper()
	all := w.requests(tb)
	for _, p := range w.places {
		requests := all[p]
		var last []seen
		if len(requests) > 0 {
			last = requests[len(requests)-1].users // each request holds the one before
		}
		want := p.wanted(last)
		for i, r := range requests {
			if i > 0 && hidden(r.users) == hidden(requests[i-1].users) && !extends(requests[i-1].messages, r.messages) {
				tb.Errorf("%s: request %d does not begin with the bytes of the one before", p.name, i)
			}
			if i > 0 && len(r.users)-len(requests[i-1].users) > 1 {
				several++
			}
			w.checkForeign(tb, p, r)
			if diff := gocmp.Diff(aged(want[:min(len(r.users), len(want))]), withoutTimes(r.users)); diff != "" {
				tb.Errorf("%s: user turns of request %d of %d as the model saw them (-want +got):\n%s", p.name, i+1, len(requests), diff)
				break
			}
		}
		if len(last) != len(want) {
			tb.Errorf("%s: the model saw %d turns, want %d", p.name, len(last), len(want))
		}
	}
	return several
}

// extends reports that a list of messages begins with the bytes of another.
func extends(before, after json.RawMessage) bool {
	before = bytes.TrimSuffix(before, []byte("]"))
	return bytes.HasPrefix(after, before) && len(after) > len(before) && (after[len(before)] == ',' || after[len(before)] == ']')
}

// checkForeign finds what belongs to other rooms. That the user turns are the
// room's own is told by their order.
func (w *town) checkForeign(tb testing.TB, p *place, r request) {
	tb.Helper()
	own := map[string]string{}
	for _, s := range p.asked() {
		own[num(s.id)] = num(s.user)
	}
	for _, h := range r.answers {
		if own[h.Msg] != h.User {
			tb.Errorf("%s: a request holds an answer to %s, message %s", p.name, h.User, h.Msg)
		}
	}
	for _, other := range w.places {
		if other != p && (bytes.Contains(r.raw, []byte(other.id())) || bytes.Contains(r.raw, []byte("Room "+other.name))) {
			tb.Errorf("%s: a request names %s", p.name, other.name)
		}
	}
}

// checkSent holds what people got against what was asked: every line that
// addresses the bot is answered once, in order, to its sender, pointing at the
// newest message it answers. What excused lets pass may be a copy of the message
// before; it returns the ids of those copies.
func (w *town) checkSent(tb testing.TB, excused func(p *place, i int) bool) map[int64]bool {
	tb.Helper()
	copies := map[int64]bool{}
	for _, p := range w.places {
		var want, got []header
		for _, s := range p.asked() {
			want = append(want, header{Msg: num(s.id), User: num(s.user)})
		}
		sent := w.api.Sent(p.chat)
		for i, m := range sent {
			q := quotes(m.Text)
			if i > 0 && m.Text == sent[i-1].Text && excused(p, i) {
				copies[m.ID] = true
				continue
			}
			got = append(got, q...)
			if len(q) == 0 || q[len(q)-1].Msg != num(m.ReplyTo) {
				tb.Errorf("%s: %q, edited %d times, answers message %d", p.name, m.Text, m.Edits, m.ReplyTo)
			}
		}
		if diff := gocmp.Diff(want, got); diff != "" {
			tb.Errorf("%s: answers (-asked +got):\n%s", p.name, diff)
		}
	}
	return copies
}

type book struct {
	counts  platform.Counts
	history []turn
	ledger  []journal.LedgerEntry
}

type turn struct {
	ID   string         `json:"id"`
	Role uimessage.Role `json:"role"`
}

// checkBook holds a chat's records against what was said: the conservation of
// ingresses, one line of the ledger for each, and the fate that fits.
func (w *town) checkBook(tb testing.TB, p *place, b book, copies map[int64]bool) {
	tb.Helper()
	c := b.counts
	asked := int64(len(p.asked()) + len(p.joined()))
	settled := int64(0)
	for _, n := range c.Fates {
		settled += n
	}
	if c.Accepted != settled+c.Open || c.Accepted != int64(len(p.said)) || c.Open != 0 || c.Pending != 0 {
		tb.Errorf("%s: accepted %d = %v + open %d, pending %d; %d were said", p.name, c.Accepted, c.Fates, c.Open, c.Pending, len(p.said))
	}
	if got := c.Fates["answered"] + c.Fates["merged"]; got != asked || c.Fates["ignored"] != int64(len(p.said))-asked {
		tb.Errorf("%s: fates are %v, %d of %d lines address the bot", p.name, c.Fates, asked, len(p.said))
	}
	w.checkLedger(tb, p, b.ledger)
	w.checkReceipts(tb, p, b.ledger, copies)
	var want, got []string
	for _, s := range p.asked() {
		want = append(want, "u:"+string(p.key())+":"+num(s.id))
	}
	for _, m := range b.history {
		if m.Role == uimessage.RoleUser {
			got = append(got, m.ID)
		}
	}
	if diff := gocmp.Diff(want, got); diff != "" {
		tb.Errorf("%s: user turns of the history (-want +got):\n%s", p.name, diff)
	}
}

func (w *town) checkLedger(tb testing.TB, p *place, ledger []journal.LedgerEntry) {
	tb.Helper()
	lines := map[string][]journal.LedgerEntry{}
	for _, e := range ledger {
		if e.Dir == "in" {
			lines[e.MessageID] = append(lines[e.MessageID], e)
		}
	}
	for _, s := range p.said {
		id := num(s.id)
		got := lines[id]
		delete(lines, id)
		if len(got) != 1 {
			tb.Errorf("%s: message %s has %d lines in the ledger", p.name, id, len(got))
			continue
		}
		if why := wrongEntry(s, got[0]); why != "" {
			tb.Errorf("%s: message %s: %s: %+v", p.name, id, why, got[0])
		}
	}
	for id := range lines {
		tb.Errorf("%s: the ledger has a message %q that nobody wrote", p.name, id)
	}
}

// checkReceipts: what people got has one receipt each, and nothing else has. Of a
// message and its copy one has it, in a line that says that there may be two.
func (w *town) checkReceipts(tb testing.TB, p *place, ledger []journal.LedgerEntry, copies map[int64]bool) {
	tb.Helper()
	maybe := map[string]bool{}
	var got []string
	for _, e := range ledger {
		for _, id := range e.Receipt {
			maybe[id] = e.Maybe
			got = append(got, id)
		}
	}
	var want []string
	for i, m := range w.api.Sent(p.chat) {
		id := num(m.ID)
		if copies[m.ID] {
			first := num(w.api.Sent(p.chat)[i-1].ID)
			if !maybe[id] && !maybe[first] {
				tb.Errorf("%s: message %s was sent twice and is not marked", p.name, id)
			}
			want = want[:len(want)-1]
		}
		want = append(want, id)
	}
	if diff := gocmp.Diff(want, got); diff != "" {
		tb.Errorf("%s: messages people got and receipts of the ledger (-sent +receipts):\n%s", p.name, diff)
	}
}

// wrongEntry says what is wrong with the ledger's line of a message; empty: nothing.
func wrongEntry(s said, e journal.LedgerEntry) string {
	switch {
	case e.Username != s.from() || e.UserID != num(s.user):
		return "another sender"
	case s.joins && (e.Fate != journal.FateMerged || e.Reason != "album"):
		return "not merged into its album"
	case s.joins:
		return ""
	case !s.addressed && (e.Fate != journal.FateIgnored || e.Reason == ""):
		return "not ignored with a reason"
	case !s.addressed && e.Text != "":
		return "the words of somebody who did not speak to the bot"
	case s.addressed && e.Text != s.text && s.kind == "" && s.shows == nil,
		s.addressed && !strings.HasPrefix(e.Text, s.text):
		return "other words"
	case s.addressed && e.Fate == journal.FateMerged && (e.RunID == "" || e.Step < 2):
		return "merged, but not told into what"
	case s.addressed && e.Fate != journal.FateMerged && e.Fate != journal.FateAnswered:
		return "not answered"
	}
	return ""
}

// figures are the metrics of a scrape: the samples of each name, by labels.
type figures map[string]map[string]float64

func parseFigures(text string) (figures, error) {
	sample := regexp.MustCompile(`^([a-zA-Z_:][\w:]*)(\{.*\})? (\S+)$`)
	out := figures{}
	for l := range strings.SplitSeq(text, "\n") {
		if l == "" || l[0] == '#' {
			continue
		}
		m := sample.FindStringSubmatch(l)
		if m == nil {
			return nil, fmt.Errorf("not a sample: %q", l)
		}
		v, err := strconv.ParseFloat(m[3], 64)
		if err != nil {
			return nil, err
		}
		if out[m[1]] == nil {
			out[m[1]] = map[string]float64{}
		}
		out[m[1]][m[2]] += v
	}
	return out, nil
}

// sum adds the samples of a name whose labels hold all of some texts.
func (f figures) sum(name string, labels ...string) int {
	total := 0.0
	for l, v := range f[name] {
		if !slices.ContainsFunc(labels, func(want string) bool { return !strings.Contains(l, want) }) {
			total += v
		}
	}
	return int(total)
}

// unbalanced reports figures in which ingresses vanish or appear.
func (f figures) unbalanced() bool {
	return f.sum("sma_ingress_accepted_total")+f.sum("sma_ingress_recovered") != f.sum("sma_ingress_fates_total")+f.sum("sma_ingress_open")
}

// checkLabels finds labels that grow with chats and people.
func (w *town) checkLabels(tb testing.TB, f figures) {
	tb.Helper()
	for name, samples := range f {
		for labels := range samples {
			for _, p := range w.places {
				if strings.Contains(labels, p.id()) || strings.Contains(labels, p.name) {
					tb.Errorf("%s%s names a chat", name, labels)
				}
			}
			bound := strings.HasSuffix(name, "_bucket") // its numbers are bounds
			if regexp.MustCompile(`"\d{5,}"|50\d{5}|chat-`).MatchString(labels) && !bound || strings.Contains(labels, "chat-") {
				tb.Errorf("%s%s looks like an id", name, labels)
			}
		}
	}
}
