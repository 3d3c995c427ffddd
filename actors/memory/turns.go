package memory

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/shipmyagent/shipmyagent/actors/internal/errand"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
	"github.com/shipmyagent/shipmyagent/persistence/memories"
)

const (
	// maxTurns and maxMaterial bound what one extraction reads; the next one continues.
	maxTurns, maxMaterial = 200, 100 << 10
	// maxWords and maxInput bound the length of one text and of one call's input.
	maxWords, maxInput = 6 << 10, 3 << 10
	// maxFacts and maxFact bound what an extraction adds.
	maxFacts, maxFact = 30, 500
)

// work is what one extraction reads.
type work struct {
	turns    []journal.Turn
	material string
	to       memories.Mark
	left     int // new turns, including those that it does not read
	group    bool
}

// people counts the persons who wrote the turns.
func (w work) people() int {
	seen := map[string]bool{}
	for _, t := range w.turns {
		if t.Role == uimessage.RoleUser && t.Meta.UserID != "" {
			seen[t.Meta.UserID] = true
		}
	}
	return len(seen)
}

// question is the system text of the request for facts.
func (w work) question() string {
	if w.group {
		return extractGroup
	}
	return extract
}

// newWork takes the turns after a mark, as many as one extraction reads. A turn that is open or
// waits for a person, and all later ones, are left for a later extraction.
func newWork(turns []messages.CompactTurn, mark memories.Mark, zone *time.Location) work {
	var w work
	settled := fresh(turns, mark)
	w.left = len(settled)
	var material []byte
	for i, turn := range settled[:min(len(settled), maxTurns)] {
		longer := errand.AppendLine(material, lineOf(turn, i+1, zone))
		if i > 0 && len(longer) > maxMaterial {
			break
		}
		w.turns, material = settled[:i+1], longer
	}
	if n := len(w.turns); n > 0 {
		w.to = memories.Mark{TurnID: w.turns[n-1].ID, Seq: w.turns[n-1].Meta.Seq}
	}
	w.material = string(material)
	return w
}

// fresh returns the settled turns after a mark. If the mark's turn is gone, it returns those that
// arrived later.
func fresh(turns []messages.CompactTurn, mark memories.Mark) []journal.Turn {
	from := markAt(turns, mark)
	out := make([]journal.Turn, 0, len(turns)-from-1)
	ends := 0
	for _, t := range turns[from+1:] {
		if t.Waits {
			break
		}
		if turn := journal.NewTurn(t.Message); !t.Summary && (from >= 0 || turn.Meta.Seq > mark.Seq || mark == (memories.Mark{})) {
			out = append(out, turn)
		}
		if t.Ends {
			ends = len(out)
		}
	}
	return out[:ends]
}

func lineOf(t journal.Turn, n int, zone *time.Location) errand.Line {
	s := errand.Line{N: n, Who: string(t.Role)}
	if t.Meta.TS > 0 {
		s.At = time.UnixMilli(t.Meta.TS).In(zone).Format("2006-01-02 15:04")
	}
	if t.Role == uimessage.RoleUser {
		s.From, s.ID, s.Forwarded = t.Meta.Username, t.Meta.UserID, t.Meta.Forwarded()
	}
	var words []string
	for _, p := range t.Parts {
		switch p := p.(type) {
		case uimessage.Text:
			words = append(words, p.Text)
		case uimessage.Tool:
			s.Calls = append(s.Calls, errand.Call{Tool: p.Name, In: clip(string(p.Input), maxInput)})
		default:
		}
	}
	s.Text = clip(strings.Join(words, "\n"), maxWords)
	return s
}

// clip returns the beginning of a text that is too long.
func clip(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	return strings.ToValidUTF8(text[:limit], "") + " …"
}

// offer is a line of an answer.
type offer struct {
	Fact string `json:"fact"`
	By   string `json:"by"`
	From []int  `json:"from"`
}

// facts parses the answer of the model and counts the facts that are refused. A line
// that is not a fact, or that names no source turn, is skipped. An answer in which no
// line has the right form is an error.
func (w work) facts(answer string, zone *time.Location) (out []memories.Fact, dropped int, err error) {
	formed := false
	for line := range strings.Lines(answer) {
		if line = strings.TrimSpace(line); line == "[]" || line == "{}" {
			formed = true
			continue
		}
		var said offer
		if !strings.HasPrefix(line, "{") || json.Unmarshal([]byte(strings.TrimSuffix(line, ",")), &said) != nil {
			continue
		}
		formed = true
		take := w.fact
		if w.group {
			take = w.statement
		}
		if f, ok := take(said, zone); ok && len(out) < maxFacts {
			out = append(out, f)
		} else {
			dropped++
		}
	}
	if !formed {
		return nil, dropped, fmt.Errorf("the answer has no line that is a fact: %d bytes", len(answer))
	}
	return out, dropped, nil
}

func (w work) fact(said offer, zone *time.Location) (memories.Fact, bool) {
	f := memories.Fact{Text: clip(memories.FactText(said.Fact), maxFact)}
	for _, n := range said.From[:min(len(said.From), 5)] {
		if n < 1 || n > len(w.turns) {
			continue
		}
		t := w.turns[n-1]
		f.Sources = append(f.Sources, t.ID)
		f.At = time.UnixMilli(t.Meta.TS).In(zone)
	}
	return f, f.Text != "" && len(f.Sources) > 0
}
