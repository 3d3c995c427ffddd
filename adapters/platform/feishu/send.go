package feishu

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"

	"github.com/shipmyagent/shipmyagent/adapters/internal/markup"
	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/adapters/platform/feishu/internal/api"
	"github.com/shipmyagent/shipmyagent/adapters/platform/internal/botkit"
	"github.com/shipmyagent/shipmyagent/messages"
)

const (
	maxText = 4000
	aimText = 3800
	// maxDraft bounds how much of an unfinished text is rendered, in bytes: enough for one part.
	maxDraft = 4 * maxText
)

var (
	errNoChat  = errors.New("the target names no chat")
	errNoText  = errors.New("the part has no text")
	errNoMedia = errors.New("the attachment names no file")
)

// Plan implements [platform.Sender]: texts first, then files, each followed by its caption, because
// files have no captions here.
func (p *Platform) Plan(out platform.Outbound) []platform.Part {
	text := out.Text
	if out.Draft {
		text = botkit.Head(text, maxDraft)
	}
	parts := p.texts(text)
	if out.Draft {
		parts = parts[:min(1, len(parts))]
	}
	if n := len(parts); n > 0 {
		parts[n-1].Asks = placed(out.Asks, out.To)
	}
	for _, a := range out.Attachments {
		captions := p.texts(a.Caption)
		a.Caption = ""
		parts = append(append(parts, platform.Part{Attachment: &a}), captions...)
	}
	for i := range parts {
		parts[i].Draft = out.Draft
		if out.ID != "" {
			parts[i].ID = out.ID + "/" + strconv.Itoa(i)
		}
		parts[i].ReplyTo = out.ReplyTo // in a topic, a message that is not a reply would begin another topic
	}
	return parts
}

func (p *Platform) texts(src string) []platform.Part {
	split := p.markup.SplitFeishu(src, markup.Limits{Aim: aimText, Max: maxText})
	parts := make([]platform.Part, len(split), len(split)+1)
	for i, s := range split {
		parts[i] = platform.Part{Text: s.Text, Markup: s.Markup}
	}
	return parts
}

// outgoing are the parameters for creating a message.
type outgoing struct {
	To      string `json:"receive_id,omitempty"`
	Kind    string `json:"msg_type"`
	Content string `json:"content"`
	UUID    string `json:"uuid"`

	chat, reply string
}

// sentMessage holds the fields that we need of a created message.
type sentMessage struct {
	ID      string `json:"message_id"`
	Created string `json:"create_time"` // in milliseconds
}

// receipt returns the message with its position in the service's order.
func (m sentMessage) receipt() messages.Receipt {
	return messages.Receipt{ID: m.ID, Order: orderOf(m.Created)}
}

// orderOf returns the position that the service gave a message in its chat, which is its creation
// time. It is 0 if the service did not report that.
func orderOf(created string) int64 {
	ms, err := strconv.ParseInt(created, 10, 64)
	if err != nil || ms <= 0 || ms >= 1<<messages.OrderBits {
		return 0
	}
	return ms
}

// chatOf returns the destination of a call. A target without a chat is an error.
func chatOf(to platform.Target) (string, error) {
	if chat := to.ChatID(); chat != "" {
		return chat, nil
	}
	return "", &platform.Error{Reason: platform.SendRefused, Err: errNoChat}
}

// uuid is the same for every try of a part, and differs between parts.
func (p *Platform) uuid(chat, id string) string {
	if id == "" {
		id = rand.Text()
	}
	return fmt.Sprintf("%x", sha256.Sum256([]byte(p.name+"\x00"+chat+"\x00"+id)))[:40]
}

// Send implements [platform.Sender].
func (p *Platform) Send(ctx context.Context, to platform.Target, part platform.Part) (messages.Receipt, error) {
	chat, err := chatOf(to)
	if err != nil {
		return messages.Receipt{}, err
	}
	out := outgoing{chat: chat, reply: part.ReplyTo, UUID: p.uuid(chat, part.ID)}
	if part.Attachment != nil {
		if out.Kind, out.Content, err = p.upload(ctx, *part.Attachment); err != nil {
			return messages.Receipt{}, err
		}
		return p.create(ctx, out)
	}
	if part.Text == "" && part.Markup == "" {
		return messages.Receipt{}, &platform.Error{Reason: platform.SendRefused, Err: errNoText}
	}
	if part.Draft && p.opts.Drafts == DraftsCard {
		return p.beginStream(ctx, out, part)
	}
	return p.sendText(ctx, out, part)
}

// sendText sends a text with its markup or buttons, or without them when the service refuses them.
func (p *Platform) sendText(ctx context.Context, out outgoing, part platform.Part) (messages.Receipt, error) {
	buttons := newCard(part, p.opts.Decide != nil)
	plain := markup.FeishuText(part.Text)
	out.Kind, out.Content = "post", plain
	switch {
	case buttons != nil:
		out.Kind, out.Content = "interactive", buttons.content()
	case part.Markup != "":
		out.Content = part.Markup
	}
	made, err := p.create(ctx, out)
	if out.Content != plain && isMarkupRefused(err) {
		p.metrics.plainText.Inc()
		p.log.Warn("the service refused the markup; the text was sent as plain text", "error", err)
		out.Kind, out.Content, buttons = "post", plain, nil
		made, err = p.create(ctx, out)
	}
	if err == nil && buttons != nil {
		p.cards.Put(made.ID, buttons)
		p.admission.Asked(ctx, made.ID, part.Asks)
	}
	return made, err
}

// create creates a message. If the message that it replies to is gone, it is sent without a reply.
func (p *Platform) create(ctx context.Context, out outgoing) (messages.Receipt, error) {
	path, query := "/open-apis/im/v1/messages", url.Values{"receive_id_type": {"chat_id"}}
	out.To = out.chat
	if out.reply != "" {
		out.To = ""
		path, query = path+"/"+url.PathEscape(out.reply)+"/reply", nil
	}
	sent, err := api.Post[sentMessage](ctx, p.client, http.MethodPost, path, query, out)
	if err == nil && sent.ID == "" {
		err = &api.CallError{Call: path, Sent: true, Err: errors.New("the answer names no message")}
	}
	if err == nil {
		p.ours.Put(sent.ID, true)
		return sent.receipt(), nil
	}
	if e, ok := errors.AsType[*platform.Error](sendError(err)); ok && e.Reason == platform.SendNotFound && out.reply != "" {
		out.reply = ""
		return p.create(ctx, out)
	}
	return messages.Receipt{}, sendError(err)
}
