package feishu

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/adapters/platform/feishu/internal/api"
	"github.com/shipmyagent/shipmyagent/adapters/platform/internal/botkit"
	"github.com/shipmyagent/shipmyagent/adapters/platform/internal/notices"
	"github.com/shipmyagent/shipmyagent/messages"
)

const (
	// pressDeadline bounds the time for answering a press: the service waits three seconds.
	pressDeadline = 2500 * time.Millisecond
	// maxCards is how many cards with buttons are kept.
	maxCards = 1000
)

// choice is the value of a button. It identifies the request by its random id, and what was shown
// by its digest, so that it stays valid forever and only for that request.
type choice struct {
	Say    string `json:"say"` // approve or deny
	ID     string `json:"id"`
	Digest string `json:"digest"`
	spoken
}

// spoken is the language of a card, in the value of its buttons. Presses are answered in that
// language; it has no other use.
type spoken struct {
	Lang string `json:"lang,omitempty"` // empty on cards from before this field existed
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

// words returns the texts in the language of the card, or of the account if the card has none.
func (s spoken) words(account notices.Words) notices.Words { return wordsIn(s.Lang, account) }

const (
	sayApprove = "approve"
	sayDeny    = "deny"
)

// card is a text with buttons. It is safe for concurrent use once it was sent.
type card struct {
	text string
	asks []messages.Ask

	mu    sync.Mutex
	shown map[string]object // outcomes that replace buttons, by request
}

// decide replaces the buttons of a request by the outcome and returns the resulting card.
func (c *card) decide(approval string, shown object) object {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.shown[approval] = shown
	return c.object()
}

// object is a JSON object of a card.
type object map[string]any

// newCard returns the card of a part, or nil if it has no buttons.
func newCard(part platform.Part, buttons bool) *card {
	if !buttons || len(part.Asks) == 0 {
		return nil
	}
	return &card{text: part.Text, asks: part.Asks, shown: map[string]object{}}
}

// content encodes the card for the service. The text is shown literally, so that what people are
// asked about cannot disguise itself.
func (c *card) content() string {
	out, err := api.Encode(c.object())
	if err != nil { // Unreachable: only strings
		return ""
	}
	return out
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
		n, digest := " #"+strconv.Itoa(a.N), a.Digest[:min(botkit.DigestOf, len(a.Digest))]
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

func line(text string) object { return object{"tag": "div", "text": plainText(text)} }

func plainText(s string) object { return object{"tag": "plain_text", "content": s} }

// pressedAnswer is what the service shows to the person who pressed, and to everybody.
type pressedAnswer struct {
	Toast object  `json:"toast"`
	Card  *object `json:"card,omitempty"`
}

// pressed carries out a press and returns what to show. What cannot be decided in time can be
// repeated by pressing again.
func (p *Platform) pressed(ctx context.Context, raw json.RawMessage) any {
	var e press
	var c choice
	err := errors.Join(json.Unmarshal(raw, &e), json.Unmarshal(e.Action.Value, &c))
	by := platform.Person{ID: e.Operator.OpenID}
	say := c.words(p.say)
	d := messages.Decision{Approved: c.Say == sayApprove, ApprovalID: c.ID, Digest: c.Digest}
	switch {
	case err == nil && strings.HasPrefix(c.ID, botkit.AskPrefix):
		return p.choose(ctx, e, c)
	case p.opts.Decide == nil, err != nil, e.Context.Chat == "", len(e.Context.Chat) > maxID, by.ID == "",
		c.Say != sayApprove && c.Say != sayDeny, c.ID == "", len(c.Digest) != botkit.DigestOf:
		return toast(botkit.ToneError, say.UnknownRequest)
	}
	ctx, cancel := context.WithTimeout(ctx, pressDeadline)
	defer cancel()
	by = p.person(ctx, by.ID)
	out, err := p.opts.Decide(ctx, messages.NewChatKey("feishu", p.opts.Account, e.Context.Chat, 0), by, []messages.Decision{d})
	if err != nil || len(out) != 1 {
		if !errors.Is(err, context.Canceled) {
			p.log.Warn("a button could not be answered", "error", err)
		}
		return toast(botkit.ToneWarning, say.TryAgain)
	}
	answer := botkit.Decided(say, d, out[0])
	if answer.Mark == "" {
		return p.answerPress(e, c, answer, nil)
	}
	return p.answerPress(e, c, answer, outcomeLine(outcomeOf(d, by, out[0])))
}

// outcomeOf returns how a request ended, or had ended before.
func outcomeOf(d messages.Decision, by platform.Person, out messages.DecisionOutcome) messages.AskOutcome {
	ended := messages.AskOutcome{Answer: out.Answer, By: out.By, ByName: out.ByName}
	switch out.Is {
	case messages.DecisionExpired:
		ended.Answer = "expired"
	case messages.DecisionDone:
		ended.Answer, ended.By = "denied", "feishu-"+by.ID
		if d.Approved {
			ended.Answer = "approved"
		}
	case messages.DecisionAlready, messages.DecisionForbidden, messages.DecisionUnknown, messages.DecisionUnseen:
	}
	return ended
}

// answerPress returns an answer with the card that replaces the one with the button. shown is what
// replaces the request's buttons there, if anything.
func (p *Platform) answerPress(e press, c choice, answer botkit.Pressed, shown object) pressedAnswer {
	out := toast(answer.Tone, answer.Text)
	if made, ok := p.cards.Get(e.Context.Message); ok && shown != nil {
		out.Card = &object{"type": "raw", "data": made.decide(c.ID, shown)}
	}
	return out
}

func toast(tone botkit.Tone, text string) pressedAnswer {
	return pressedAnswer{Toast: object{"type": tone, "content": text}}
}
