package telegram

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-telegram/bot"
	"github.com/go-telegram/bot/models"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/adapters/platform/internal/botkit"
	"github.com/shipmyagent/shipmyagent/adapters/platform/internal/notices"
	"github.com/shipmyagent/shipmyagent/adapters/platform/telegram/internal/wire"
	"github.com/shipmyagent/shipmyagent/messages"
)

const (
	// maxPresses is how many button presses are answered concurrently; further ones are refused,
	// and people have to press again.
	maxPresses = 32
	// pressDeadline bounds the time for answering a press.
	pressDeadline = 30 * time.Second
	// maxData is the maximum length of a button's data, in bytes.
	maxData = 64
)

// Prefixes of the data of buttons.
const (
	pressApprove = "y:"
	pressDeny    = "n:"
	pressNothing = "-"  // a button that only shows the decision
	pressAllow   = "g"  // the button that gives a group access
	pressOrder   = "c:" // a button that sends a command to the host
	pressChoice  = "a:" // a button that decides an access request
)

// askAllow is the ask in the notice about a group without access.
const askAllow = "allow-group"

// callback is a press on a button.
type callback struct {
	ID      string     `json:"id"`
	From    *wire.User `json:"from"`
	Data    string     `json:"data"`
	Message *struct {
		wire.Message

		Keyboard *keyboard `json:"reply_markup"`
	} `json:"message"`
}

// keyboard is the set of buttons below a message.
type keyboard = models.InlineKeyboardMarkup

type button = models.InlineKeyboardButton

func newButton(text, data string) button { return button{Text: text, CallbackData: data} }

// onlyButton is a keyboard with one button that only shows a text.
func onlyButton(text string) keyboard {
	return keyboard{InlineKeyboard: [][]button{{newButton(text, pressNothing)}}}
}

// buttons returns two buttons for each request. They identify it by its random id, and what was
// shown by its digest, so that they stay valid forever and only for that request.
func buttons(asks []messages.Ask) *keyboard {
	var rows [][]button
	for i, a := range asks {
		if a.Order != "" {
			rows = withOrder(rows, a, i > 0 && asks[i-1].Order != "" && asks[i-1].N == a.N)
			continue
		}
		if a.ApprovalID == askAllow {
			rows = append(rows, []button{newButton("✅ "+"/allow", pressAllow)})
			continue
		}
		if code, ok := strings.CutPrefix(a.ApprovalID, botkit.AskPrefix); ok {
			rows = append(rows, choiceButtons(code, a)...)
			continue
		}
		data := a.ApprovalID + ":" + a.Digest[:min(botkit.DigestOf, len(a.Digest))]
		if len(pressApprove+data) > maxData {
			continue // Unreachable: our ids are short; people can also decide in words
		}
		n, say := " #"+strconv.Itoa(a.N), notices.For(a.Chinese)
		rows = append(rows, []button{newButton("✅ "+say.ApproveButton+n, pressApprove+data), newButton("❌ "+say.DenyButton+n, pressDeny+data)})
	}
	if len(rows) == 0 {
		return nil
	}
	return &keyboard{InlineKeyboard: rows}
}

// pressed parses the data of a button.
func pressed(data string) (messages.Decision, bool) {
	d := messages.Decision{Approved: strings.HasPrefix(data, pressApprove)}
	if !d.Approved && !strings.HasPrefix(data, pressDeny) {
		return d, false
	}
	var ok bool
	d.ApprovalID, d.Digest, ok = strings.Cut(data[len(pressDeny):], ":")
	return d, ok && d.ApprovalID != "" && len(d.Digest) == botkit.DigestOf
}

// press answers a button in the background, so that messages are not delayed. The decision takes
// effect only once the core has it; until then the button stays as it is.
func (p *Platform) press(c callback) {
	if c.ID == "" || c.From == nil || p.opts.Decide == nil {
		return
	}
	select {
	case p.presses <- struct{}{}:
	default:
		return
	}
	p.life.Go(func(ctx context.Context) {
		defer func() { <-p.presses }()
		ctx, cancel := context.WithTimeout(ctx, pressDeadline)
		defer cancel()
		p.answer(ctx, c)
	})
}

// answer submits the decision, answers the person who pressed, and replaces the buttons by the
// outcome.
func (p *Platform) answer(ctx context.Context, c callback) {
	say := wordsFor(c.From.Language, "")
	if c.Message != nil && c.Message.Chat.ID != 0 {
		say = p.wordsOf(p.keyOf(&c.Message.Message), c.From.Language)
	}
	d, ok := pressed(c.Data)
	switch {
	case c.Data == pressNothing:
		p.toast(ctx, c, "", false)
		return
	case strings.HasPrefix(c.Data, pressOrder) && c.Message != nil && c.Message.Chat.ID != 0 && !c.From.IsBot:
		p.giveOrder(ctx, c, say)
		return
	case c.Data == pressAllow && c.Message != nil && c.Message.Chat.ID < 0:
		p.letIn(ctx, c, say)
		return
	case c.Message != nil && strings.HasPrefix(c.Data, pressChoice):
		p.choose(ctx, c, say)
		return
	case !ok || c.Message == nil || c.Message.Chat.ID == 0:
		p.toast(ctx, c, say.UnknownRequest, true)
		return
	case c.From.IsBot:
		p.toast(ctx, c, say.MayNotDecide, true)
		return
	}
	key := p.keyOf(&c.Message.Message)
	by := platform.Person{ID: strconv.FormatInt(c.From.ID, 10), Name: c.From.Name()}
	out, err := p.opts.Decide(ctx, key, by, []messages.Decision{d})
	if err != nil || len(out) != 1 {
		if !errors.Is(err, context.Canceled) {
			p.log.Warn("a button could not be answered", "error", err)
		}
		p.toast(ctx, c, say.TryAgain, true)
		return
	}
	answer := botkit.Decided(say.Words, d, out[0])
	p.toast(ctx, c, answer.Text, answer.Tone != botkit.ToneSuccess)
	if answer.Mark != "" && out[0].Is != messages.DecisionDone { // the core itself shows new decisions everywhere
		p.settleButtons(ctx, c, d.ApprovalID, decidedBefore(answer.Mark, out[0]))
	}
}

// decidedBefore is the text that replaces the buttons of a request that ended earlier.
func decidedBefore(mark string, out messages.DecisionOutcome) string {
	if out.Is == messages.DecisionExpired {
		return mark
	}
	return mark + " " + cmp.Or(out.ByName, out.By)
}

// letIn gives a group access when its owner presses the button.
func (p *Platform) letIn(ctx context.Context, c callback, say words) {
	person := strconv.FormatInt(c.From.ID, 10)
	chat := p.moves.origin(strconv.FormatInt(c.Message.Chat.ID, 10))
	role, _ := p.admission.RoleOf(platform.Inbound{Sender: platform.Person{ID: person}}, true)
	if c.From.IsBot || role != platform.RoleOwner {
		p.toast(ctx, c, say.OwnerOnly, true)
		return
	}
	if err := p.opts.AccessStore.AllowGroup(ctx, p.name, chat, c.Message.Chat.Name(), person); err != nil {
		p.log.Error("a group could not be allowed", "chat", chat, "error", err)
		p.toast(ctx, c, say.TryAgain, true)
		return
	}
	p.log.Info("a group was allowed", "chat", chat, "by", person)
	p.toast(ctx, c, say.GroupAllowed, false)
	p.showKeyboard(ctx, c, onlyButton("✅ "+c.From.Name()))
	p.sendDue(ctx)
}

func (p *Platform) toast(ctx context.Context, c callback, text string, alert bool) {
	if _, err := call[json.RawMessage](ctx, p.client, "answerCallbackQuery", bot.AnswerCallbackQueryParams{CallbackQueryID: c.ID, Text: text, ShowAlert: alert}); err != nil {
		p.log.Warn("the press of a button could not be answered", "error", err)
	}
}

// setKeyboard replaces the buttons below a message; an unchanged keyboard is not an error.
func (p *Platform) setKeyboard(ctx context.Context, chat json.RawMessage, message int64, k keyboard) error {
	params := bot.EditMessageReplyMarkupParams{ChatID: chat, MessageID: int(message), ReplyMarkup: k}
	_, err := call[json.RawMessage](ctx, p.client, "editMessageReplyMarkup", params)
	if isUnchanged(err) {
		return nil
	}
	return sendError(err)
}

// settleButtons shows the decision. It is best effort: buttons that remain give the same answer
// when they are pressed again.
func (p *Platform) settleButtons(ctx context.Context, c callback, approvalID, shown string) {
	if c.Message.Keyboard == nil {
		return
	}
	var rows [][]button
	for _, row := range c.Message.Keyboard.InlineKeyboard {
		if len(row) == 0 {
			continue
		}
		if d, ok := pressed(row[0].CallbackData); ok && d.ApprovalID == approvalID {
			_, n, _ := strings.Cut(row[0].Text, "#")
			row = []button{newButton("#"+n+" "+shown, pressNothing)}
		}
		rows = append(rows, row)
	}
	if !slices.EqualFunc(rows, c.Message.Keyboard.InlineKeyboard, slices.Equal) { // otherwise it is already shown
		p.showKeyboard(ctx, c, keyboard{InlineKeyboard: rows})
	}
}

// showKeyboard replaces the buttons below the message whose button was pressed.
func (p *Platform) showKeyboard(ctx context.Context, c callback, k keyboard) {
	if err := p.setKeyboard(ctx, json.RawMessage(strconv.FormatInt(c.Message.Chat.ID, 10)), c.Message.ID, k); err != nil {
		p.log.Warn("the decision could not replace the buttons", "error", err)
	}
}
