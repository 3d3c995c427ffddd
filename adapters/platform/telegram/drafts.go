package telegram

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"strconv"

	"github.com/go-telegram/bot/models"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/messages"
)

// Values of [Options.Drafts]: how unfinished text is shown.
const (
	DraftsEdit  = "edit"  // in a message that is edited as it grows; the default
	DraftsDraft = "draft" // as a native draft in private chats, by edits elsewhere
	DraftsOff   = "off"   // not at all
)

// draftParams are the parameters of sendMessageDraft.
type draftParams struct {
	Chat      int64            `json:"chat_id"`
	Thread    int64            `json:"message_thread_id,omitempty"`
	Draft     int64            `json:"draft_id"`
	Text      string           `json:"text"`
	ParseMode models.ParseMode `json:"parse_mode,omitempty"`
}

// TakesDrafts implements [platform.Drafter]: the service has drafts in private chats, whose ids are
// positive.
func (p *Platform) TakesDrafts(to platform.Target) bool {
	if p.opts.Drafts != DraftsDraft || to.ChatType != "" && to.ChatType != messages.ChatPrivate {
		return false
	}
	out, err := p.address(to)
	if err != nil {
		return false
	}
	n, err := strconv.ParseInt(string(out.Chat), 10, 64)
	return err == nil && n > 0 && !p.noDrafts.holds(string(out.Chat))
}

// Draft implements [platform.Drafter]. A draft is not a message: it disappears by itself, and the
// finished text is sent in any case.
func (p *Platform) Draft(ctx context.Context, to platform.Target, id string, part platform.Part) error {
	out, err := p.address(to)
	if err != nil {
		return err
	}
	chat := string(out.Chat)
	n, err := strconv.ParseInt(chat, 10, 64)
	if err != nil || part.Text == "" {
		return platform.ErrNoDraft
	}
	if err := p.pauses.check(chat); err != nil {
		return err
	}
	params := draftParams{Chat: n, Thread: out.Thread, Draft: draftID(id), Text: part.Text}
	if part.Markup != "" {
		params.Text, params.ParseMode = part.Markup, models.ParseModeHTML
	}
	_, err = call[bool](ctx, p.client, "sendMessageDraft", params)
	if part.Markup != "" && isMarkupRefused(err) { // an unfinished text can contain an unfinished tag
		params.Text, params.ParseMode = part.Text, ""
		_, err = call[bool](ctx, p.client, "sendMessageDraft", params)
	}
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[*apiError](err); ok && p.noDrafts.learn(chat, e) {
		p.log.Info("drafts are not possible here; for a day, answers in progress are shown by edits", "chat", chat, "error", err)
		return fmt.Errorf("%w: %w", platform.ErrNoDraft, err)
	}
	return p.pauses.note(chat, sendError(err))
}

// draftID is the number of a draft: constant for the same unfinished text, and never 0.
func draftID(id string) int64 {
	h := fnv.New32a()
	_, _ = h.Write([]byte(id)) // it never fails
	return int64(h.Sum32()>>1) + 1
}
