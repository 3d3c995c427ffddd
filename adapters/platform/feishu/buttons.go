package feishu

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/adapters/platform/internal/botkit"
	"github.com/shipmyagent/shipmyagent/adapters/platform/internal/notices"
	"github.com/shipmyagent/shipmyagent/messages"
)

const (
	// pressDeadline bounds how long an answer to a button takes: the service waits three seconds.
	pressDeadline = 2500 * time.Millisecond
	// digestOf is how much of a digest a button carries: 128 bits of it.
	digestOf = 32
	// maxCards is how many cards with buttons are remembered.
	maxCards = 1000
)

// choice is the value of a button: the request by its random id, and what was shown
// by its digest, so that it works for ever and for nothing else.
type choice struct {
	Say    string `json:"say"` // approve or deny
	ID     string `json:"id"`
	Digest string `json:"digest"`
	spoken
}

// spoken is the language of a card, in the value of its buttons: who presses one is answered
// in it. Nothing else depends on it.
type spoken struct {
	Lang string `json:"lang,omitempty"` // empty: of a card from before there was one
}

const (
	langChinese = "zh"
	langEnglish = "en"
)

func spokenIn(chinese bool) spoken {
	if chinese {
		return spoken{langChinese}
	}
	return spoken{langEnglish}
}

// words are those of the card, or of the account where the card does not say.
func (s spoken) words(account notices.Words) notices.Words {
	switch s.Lang {
	case langChinese, langEnglish:
		return notices.For(s.Lang == langChinese)
	}
	return account
}

const (
	sayApprove = "approve"
	sayDeny    = "deny"
)

// card is a text with buttons.
type card struct {
	text  string
	asks  []messages.Ask
	shown map[string]object // what was decided, by request
}

// object is a piece of a card.
type object map[string]any

// newCard is the card of a part; nil: it has no buttons.
func newCard(part platform.Part, buttons bool) *card {
	if !buttons || len(part.Asks) == 0 {
		return nil
	}
	return &card{text: part.Text, asks: part.Asks, shown: map[string]object{}}
}

// content is the card as the service takes it. The text is shown as it is: what
// somebody is asked about must not be able to look like anything else.
func (c *card) content() string {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if enc.Encode(c.object()) != nil { // Unreachable: strings
		return ""
	}
	return out.String()
}

func (c *card) object() object {
	elements := []object{{"tag": "div", "text": plainText(c.text)}}
	for i, a := range c.asks {
		if a.Order != "" {
			elements = orderButton(elements, a, i > 0 && c.asks[i-1].Order != "" && c.asks[i-1].N == a.N)
			continue
		}
		if shown, ok := c.shown[a.ApprovalID]; ok {
			elements = append(elements, shown)
			continue
		}
		say := notices.For(a.Chinese)
		n, digest := " #"+strconv.Itoa(a.N), a.Digest[:min(digestOf, len(a.Digest))]
		column := func(text, kind, what string) object {
			value := choice{Say: what, ID: a.ApprovalID, Digest: digest, spoken: spokenIn(a.Chinese)}
			button := object{"tag": "button", "text": plainText(text), "type": kind, "behaviors": []object{{"type": "callback", "value": value}}}
			return object{"tag": "column", "width": "auto", "elements": []object{button}}
		}
		if strings.HasPrefix(a.ApprovalID, botkit.AskPrefix) {
			columns := []object{column("✅ "+say.InButton, "primary", platform.LetIn), column("☝️ "+say.OnceButton, "default", platform.LetOnce), column("🚫 "+say.BlockButton, "default", platform.Block)}
			if a.Label == botkit.KindGroup {
				columns = []object{column("✅ "+say.GroupButton, "primary", platform.LetIn), column("🚫 "+say.BlockButton, "default", platform.Block)}
			}
			elements = append(elements, object{"tag": "column_set", "columns": columns})
			continue
		}
		elements = append(elements, object{"tag": "column_set", "columns": []object{
			column("✅ "+say.ApproveButton+n, "primary", sayApprove), column("❌ "+say.DenyButton+n, "default", sayDeny),
		}})
	}
	return object{"schema": "2.0", "config": object{"update_multi": true}, "body": object{"elements": elements}}
}

func plainText(s string) object { return object{"tag": "plain_text", "content": s} }

// pressedAnswer is what the service shows to who pressed, and to all.
type pressedAnswer struct {
	Toast object  `json:"toast"`
	Card  *object `json:"card,omitempty"`
}

// pressed decides what a button says and answers with what to show. What cannot be
// decided in time is said again by pressing again.
func (p *Platform) pressed(ctx context.Context, raw json.RawMessage) any {
	var e press
	var c choice
	toast := func(kind, text string) pressedAnswer {
		return pressedAnswer{Toast: object{"type": kind, "content": text}}
	}
	err := errors.Join(json.Unmarshal(raw, &e), json.Unmarshal(e.Action.Value, &c))
	by := platform.Person{ID: e.Operator.OpenID, Name: tidy(e.Operator.OpenID, maxName)}
	say := c.words(p.say)
	d := messages.Decision{Approved: c.Say == sayApprove, ApprovalID: c.ID, Digest: c.Digest}
	switch {
	case err == nil && strings.HasPrefix(c.ID, botkit.AskPrefix):
		return p.choose(ctx, e, c)
	case p.opts.Decide == nil, err != nil, e.Context.Chat == "", len(e.Context.Chat) > maxID, by.ID == "",
		c.Say != sayApprove && c.Say != sayDeny, c.ID == "", len(c.Digest) != digestOf:
		return toast("error", say.UnknownRequest)
	}
	ctx, cancel := context.WithTimeout(ctx, pressDeadline)
	defer cancel()
	out, err := p.opts.Decide(ctx, messages.NewChatKey("feishu", p.opts.Account, e.Context.Chat, 0), by, []messages.Decision{d})
	if err != nil || len(out) != 1 {
		if !errors.Is(err, context.Canceled) {
			p.log.Warn("a button could not be answered", "error", err)
		}
		return toast("warning", say.TryAgain)
	}
	kind, text, shown := decided(say, d, out[0], by)
	answer := toast(kind, text)
	if shown != nil {
		if made, ok := p.cards.decide(e.Context.Message, c.ID, shown); ok {
			answer.Card = &object{"type": "raw", "data": made}
		}
	}
	return answer
}

// decided words what became of a decision: for who pressed, and in the place of the buttons.
func decided(w notices.Words, d messages.Decision, out messages.DecisionOutcome, by platform.Person) (kind, text string, shown object) {
	mark := func(answer string) string {
		switch answer {
		case "approved":
			return "✅ "
		case "denied":
			return "❌ "
		}
		return "⏹ "
	}
	line := func(text string) object { return object{"tag": "div", "text": plainText(text)} }
	switch out.Is {
	case messages.DecisionDone:
		if d.Approved {
			return "success", w.ApprovedToast, namedLine(mark("approved"), by.ID)
		}
		return "success", w.DeniedToast, namedLine(mark("denied"), by.ID)
	case messages.DecisionAlready:
		return "info", w.AlreadyDecided, namedLine(mark(out.Answer), strings.TrimPrefix(out.By, "feishu-"))
	case messages.DecisionExpired:
		return "warning", w.ExpiredRequest, line("⌛")
	case messages.DecisionForbidden:
		return "error", w.MayNotDecide, nil
	case messages.DecisionUnseen:
		return "warning", w.UnseenRequest, nil
	case messages.DecisionUnknown:
	}
	return "error", w.UnknownRequest, nil
}

// namedLine is a line that names somebody, whose name only the service knows.
func namedLine(mark, id string) object {
	if !isID(id) {
		return object{"tag": "div", "text": plainText(mark + id)}
	}
	return object{"tag": "markdown", "content": mark + "<at id=" + id + "></at>"}
}

// cards are those with buttons that were sent, the newest only: a press does not
// bring the card along. It is safe for concurrent use.
type cards struct {
	mu    sync.Mutex
	known map[string]*card
	order []string
}

func (c *cards) keep(id string, made *card) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.known == nil {
		c.known = map[string]*card{}
	}
	c.known[id], c.order = made, append(c.order, id)
	if len(c.order) > maxCards {
		delete(c.known, c.order[0])
		c.order = c.order[1:]
	}
}

// replace puts another card in the place of one that is known.
func (c *cards) replace(id string, made *card) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.known[id] != nil {
		c.known[id] = made
	}
}

// decide puts what was decided in the place of a request's buttons and returns the
// new card; false: the card is not known, as after a restart.
func (c *cards) decide(id, approval string, shown object) (object, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	made := c.known[id]
	if made == nil {
		return nil, false
	}
	made.shown[approval] = shown
	return made.object(), true
}
