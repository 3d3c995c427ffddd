package telegram

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strconv"

	"github.com/go-telegram/bot"
	"github.com/go-telegram/bot/models"

	"github.com/shipmyagent/shipmyagent/adapters/internal/markup"
	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/adapters/platform/internal/botkit"
	"github.com/shipmyagent/shipmyagent/adapters/platform/telegram/internal/wire"
	"github.com/shipmyagent/shipmyagent/messages"
)

const (
	maxText    = 4096
	aimText    = 3900
	maxCaption = 1024
	aimCaption = 1000
	// maxDraft bounds how much of an unfinished text is rendered, in bytes: enough for one part.
	maxDraft = 4 * maxText
)

var (
	errNoChat  = errors.New("the target names no chat")
	errNoID    = errors.New("the id of the message is not a number")
	errNoText  = errors.New("the part has no text")
	errNoMedia = errors.New("the attachment names no file")
)

// Plan implements [platform.Sender]: texts first, then attachments.
func (p *Platform) Plan(out platform.Outbound) []platform.Part {
	text := out.Text
	if out.Draft {
		text = botkit.Head(text, maxDraft)
	}
	split := p.markup.Split
	if p.opts.RichMessages && !out.Draft && len(out.Asks) == 0 {
		split = p.markup.SplitRich
	}
	parts := textParts(split(text, markup.Limits{Aim: aimText, Max: maxText}))
	if out.Draft {
		parts = parts[:min(1, len(parts))]
	}
	for _, a := range out.Attachments {
		captions := textParts(p.markup.Split(a.Caption, markup.Limits{Aim: aimCaption, Max: maxCaption}))
		part := platform.Part{}
		if len(captions) > 0 {
			part, captions = captions[0], captions[1:]
		}
		part.Attachment = &a
		parts = append(append(parts, part), captions...)
	}
	if len(parts) > 0 {
		parts[0].ReplyTo = out.ReplyTo
	}
	for i := range slices.Backward(parts) { // the buttons belong to the last part with text
		if parts[i].Attachment == nil {
			parts[i].Asks = out.Asks
			break
		}
	}
	return parts
}

func textParts(split []markup.Part) []platform.Part {
	parts := make([]platform.Part, len(split), len(split)+1)
	for i, s := range split {
		parts[i] = platform.Part{Text: s.Text, Markup: s.Markup, Rich: s.Rich}
	}
	return parts
}

// outgoing are the parameters of sendMessage, sendRichMessage, editMessageText and sendChatAction.
type outgoing struct {
	Chat        json.RawMessage            `json:"chat_id"`
	Thread      int64                      `json:"message_thread_id,omitempty"`
	Message     int64                      `json:"message_id,omitempty"`
	Text        string                     `json:"text,omitempty"`
	ParseMode   models.ParseMode           `json:"parse_mode,omitempty"`
	Rich        *richMessage               `json:"rich_message,omitempty"`
	Reply       *models.ReplyParameters    `json:"reply_parameters,omitempty"`
	LinkPreview *models.LinkPreviewOptions `json:"link_preview_options,omitempty"`
	Action      string                     `json:"action,omitempty"`
	Buttons     *keyboard                  `json:"reply_markup,omitempty"`
}

// sentMessage holds the fields that we need of a sent message.
type sentMessage struct {
	ID int64 `json:"message_id"`
}

// address fills in the destination of a call. A target without a valid chat is an error.
func address(to platform.Target) (outgoing, error) {
	chat := to.ChatID()
	if chat == "" {
		return outgoing{}, &platform.Error{Reason: platform.SendRefused, Err: errNoChat}
	}
	out := outgoing{Chat: json.RawMessage(chat), Thread: to.Topic}
	if _, err := strconv.ParseInt(chat, 10, 64); err != nil {
		out.Chat = json.RawMessage(strconv.Quote(chat))
	}
	if out.Thread == wire.GeneralTopic {
		out.Thread = 0
	}
	return out, nil
}

func replyTo(id string) *models.ReplyParameters {
	n, err := strconv.Atoi(id)
	if err != nil || n <= 0 {
		return nil
	}
	return &models.ReplyParameters{MessageID: n, AllowSendingWithoutReply: true}
}

// Send implements [platform.Sender].
func (p *Platform) Send(ctx context.Context, to platform.Target, part platform.Part) (messages.Receipt, error) {
	made, err := p.sendTo(ctx, to, part)
	if err == nil {
		p.admission.Asked(ctx, made.ID, part.Asks)
		return made, nil
	}
	return p.following(to, err, func(now platform.Target) (messages.Receipt, error) { return p.sendTo(ctx, now, part) })
}

func (p *Platform) sendTo(ctx context.Context, to platform.Target, part platform.Part) (messages.Receipt, error) {
	out, err := p.address(to)
	if err != nil {
		return messages.Receipt{}, err
	}
	chat := string(out.Chat)
	if err := p.pauses.check(chat); err != nil {
		return messages.Receipt{}, err
	}
	id, err := p.sendPart(ctx, to, part, out)
	if err = p.pauses.note(chat, err); err != nil {
		return messages.Receipt{}, err
	}
	return messages.Receipt{ID: strconv.FormatInt(id, 10), Order: orderOf(id, p.moves.origin(chat) != chat)}, nil
}

func (p *Platform) sendPart(ctx context.Context, to platform.Target, part platform.Part, out outgoing) (int64, error) {
	if part.Attachment != nil {
		return p.sendFile(ctx, to, part)
	}
	out.Reply = replyTo(part.ReplyTo)
	sent, err := posting[sentMessage](ctx, p, "sendMessage", out, part)
	return sent.ID, err
}

// orderOf returns the position of a message in its chat. In a group that became a supergroup the
// ids started over, so these are ordered after all earlier ones.
func orderOf(id int64, moved bool) int64 {
	if moved {
		id |= 1 << messages.OrderBits
	}
	return id
}

// Edit implements [platform.Editor].
func (p *Platform) Edit(ctx context.Context, to platform.Target, messageID string, part platform.Part) error {
	out, err := p.address(to)
	if err != nil {
		return err
	}
	chat := string(out.Chat)
	if err := p.pauses.check(chat); err != nil {
		return err
	}
	out.Thread = 0 // a message is identified by its chat and id alone
	if out.Message, err = strconv.ParseInt(messageID, 10, 64); err != nil {
		return &platform.Error{Reason: platform.SendNotFound, Err: errNoID}
	}
	_, err = posting[json.RawMessage](ctx, p, "editMessageText", out, part)
	if isUnchanged(err) {
		return nil
	}
	return p.pauses.note(chat, err)
}

// posting sends a text as a rich message if it has that form, and otherwise with its markup, or
// without it when the server refuses the markup.
func posting[T any](ctx context.Context, p *Platform, method string, out outgoing, part platform.Part) (T, error) {
	if part.Text == "" && part.Markup == "" {
		var none T
		return none, &platform.Error{Reason: platform.SendRefused, Err: errNoText}
	}
	out.LinkPreview, out.Buttons = &models.LinkPreviewOptions{IsDisabled: bot.True()}, buttons(part.Asks)
	if part.Rich != "" && !p.noRich.Load() {
		result, err := call[T](ctx, p.client, richMethod(method), out.rich(method, part.Rich))
		if !p.richRefused(method, err) {
			return result, sendError(err)
		}
	}
	out.Text = part.Text
	if part.Markup != "" {
		out.Text, out.ParseMode = part.Markup, models.ParseModeHTML
	}
	result, err := call[T](ctx, p.client, method, out)
	if part.Markup != "" && isMarkupRefused(err) {
		p.metrics.plainText.Inc()
		p.log.Warn("the service refused the markup; the text was sent as plain text", "method", method, "error", err)
		out.Text, out.ParseMode = part.Text, ""
		result, err = call[T](ctx, p.client, method, out)
	}
	return result, sendError(err)
}

// Typing implements [platform.Typer].
func (p *Platform) Typing(ctx context.Context, to platform.Target) error {
	out, err := p.address(to)
	if err != nil {
		return err
	}
	out.Action = string(models.ChatActionTyping)
	_, err = call[json.RawMessage](ctx, p.client, "sendChatAction", out)
	return sendError(err)
}
