package feishu

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/adapters/platform/feishu/internal/api"
	"github.com/shipmyagent/shipmyagent/adapters/platform/feishu/internal/pace"
	"github.com/shipmyagent/shipmyagent/adapters/platform/internal/botkit"
	"github.com/shipmyagent/shipmyagent/adapters/platform/internal/recent"
	"github.com/shipmyagent/shipmyagent/messages"
)

// Values of [Options.Drafts]: how an unfinished text is shown.
const (
	DraftsCard = "card" // in a streaming card
	DraftsOff  = "off"  // not at all; the default
)

const (
	// draftEvery is the default interval between two updates of a streaming card. The service
	// permits ten per second.
	draftEvery = 500 * time.Millisecond
	// streamElement is the element of a card that contains its text.
	streamElement = "answer"
	// maxStreams is how many cards are kept by their messages.
	maxStreams = 1000
	// codeSequence is the error code for a sequence number that is not greater than the previous
	// one; then sequenceJump is added once.
	codeSequence = 300317
	sequenceJump = 10_000
	// codeClosed and codeTimedOut are the error codes for a card that no longer streams. The
	// service stops streaming after ten minutes.
	codeClosed   = 300309
	codeTimedOut = 200850
	// maxEnds is how often writing the end of a text to its card is tried when the service fails.
	// After that the text is sent as a message.
	maxEnds = 3
)

// stream is a card that shows an unfinished text.
type stream struct {
	id  string
	seq int64
	// text is what the card shows; ended means that it no longer streams.
	text  string
	ended bool
	fails int // failed tries to write its end
	wrote time.Time
}

// streams holds the cards of this run, by their messages. It is safe for concurrent use.
type streams struct {
	known *recent.Map[string, *stream]
	pace  pace.Pace
}

// next returns a number greater than every earlier one, including those of earlier runs, because
// the service refuses others. It counts tenths of seconds.
func (s *stream) next(now time.Time) int64 {
	s.seq = max(s.seq+1, now.Sub(time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC)).Milliseconds()/100)
	return s.seq
}

// beginStream creates a card and sends it with the beginning of a text. A failure is harmless: the
// complete text is sent as an ordinary message.
func (p *Platform) beginStream(ctx context.Context, out outgoing, part platform.Part) (messages.Receipt, error) {
	if !p.streams.pace.Draft(time.Now()) {
		p.metrics.cards.WithLabelValues("skipped").Inc()
		return messages.Receipt{}, &platform.Error{Reason: platform.SendRefused, Err: errNoCard}
	}
	message, card, err := p.sendCard(ctx, out, part)
	if err != nil {
		p.metrics.cards.WithLabelValues("refused").Inc()
		return messages.Receipt{}, p.noDrafts(err)
	}
	p.metrics.cards.WithLabelValues("made").Inc()
	p.streams.known.Put(message.ID, &stream{id: card, text: part.Text, wrote: time.Now()})
	return message, nil
}

// noDrafts suspends drafts for a while if the service refuses them. The reasons for such refusals
// do not apply to messages.
func (p *Platform) noDrafts(err error) error {
	e, ok := errors.AsType[*platform.Error](err)
	if !ok || e.Reason == platform.SendNetwork {
		return err
	}
	pause := max(e.RetryAfter, pace.DraftPause)
	if a, is := errors.AsType[*api.Error](err); is && a.Code == codeScope {
		pause = pace.DraftsOff
	} else if e.Reason == platform.SendForbidden || e.Reason == platform.SendNotFound {
		return err // applies to this chat only
	}
	if p.streams.pace.Rest(time.Now().Add(pause)) {
		p.log.Warn("answers in progress are not shown for a while because the service accepts no cards", "pause", pause.String(), "error", err)
	}
	return &platform.Error{Reason: platform.SendRefused, Unknown: e.Unknown, Err: e.Err}
}

// sendCard creates a streaming card and sends it.
func (p *Platform) sendCard(ctx context.Context, out outgoing, part platform.Part) (message messages.Receipt, id string, err error) {
	card := object{
		"schema": "2.0",
		"config": object{"streaming_mode": true, "update_multi": true, "summary": object{"content": "…"}},
		"body":   object{"elements": []object{{"tag": "markdown", "element_id": streamElement, "content": cardMarkdown(part.Text)}}},
	}
	raw, err := api.Encode(card)
	if err != nil {
		return message, "", sendError(err)
	}
	made, err := api.Post[struct {
		ID string `json:"card_id"`
	}](ctx, p.client, http.MethodPost, "/open-apis/cardkit/v1/cards", nil, map[string]string{"type": "card_json", "data": raw})
	if err == nil && made.ID == "" {
		err = &api.CallError{Call: "cards", Err: errors.New("the answer names no card")}
	}
	if err != nil {
		return message, "", harmless(sendError(err)) // people do not see a card that was not sent
	}
	out.Kind = "interactive"
	if out.Content, err = api.Encode(object{"type": "card", "data": object{"card_id": made.ID}}); err != nil {
		return message, "", sendError(err)
	}
	message, err = p.create(ctx, out)
	return message, made.ID, err
}

// Edit implements [platform.Editor] for streaming cards: it shows more of a draft, or the end of
// the complete text and then ends the streaming. A message that is not a card of ours is not
// edited. If the error is not retryable, the card is gone, so that people do not see the text
// twice.
func (p *Platform) Edit(ctx context.Context, to platform.Target, messageID string, part platform.Part) error {
	if _, err := chatOf(to); err != nil {
		return err
	}
	s, err := p.streamOf(ctx, messageID)
	if err != nil {
		if e, ok := errors.AsType[*platform.Error](err); ok && !e.Retryable && !part.Draft {
			p.recall(ctx, messageID, err)
		}
		return err
	}
	if part.Draft {
		return p.showMore(ctx, s, part.Text)
	}
	if len(part.Asks) > 0 { // buttons need another kind of card
		p.giveUp(ctx, messageID, s)
		return &platform.Error{Reason: platform.SendRefused, Err: errNotEdited}
	}
	p.streams.pace.Final(time.Now())
	if err := p.write(ctx, s, part.Text); err != nil {
		e, ok := errors.AsType[*platform.Error](err)
		if s.fails++; ok && e.Retryable && (e.Reason == platform.SendNetwork || s.fails < maxEnds) {
			return err
		}
		p.giveUp(ctx, messageID, s)
		return &platform.Error{Reason: platform.SendRefused, Err: err}
	}
	if err := p.endStream(ctx, s); err != nil {
		// The text has been delivered. The service ends the streaming eventually.
		p.log.Warn("the streaming of a card with its complete text could not be ended", "error", err)
	}
	return nil
}

// showMore shows more of an unfinished text, if the pace permits.
func (p *Platform) showMore(ctx context.Context, s *stream, text string) error {
	now := time.Now()
	if text == s.text || s.ended {
		return nil
	}
	if now.Sub(s.wrote) < time.Second/pace.CardRate || !p.streams.pace.Draft(now) {
		p.metrics.cards.WithLabelValues("skipped").Inc()
		return nil
	}
	if err := p.write(ctx, s, text); err != nil {
		return p.noDrafts(err)
	}
	return nil
}

// write makes a card show a text. If the card no longer streams, streaming is turned on again.
func (p *Platform) write(ctx context.Context, s *stream, text string) error {
	if text == s.text {
		return nil
	}
	s.wrote = time.Now()
	put := func() error {
		return p.putStream(ctx, s, "/elements/"+streamElement+"/content", object{"content": cardMarkdown(text)})
	}
	err := put()
	if e, ok := errors.AsType[*api.Error](err); ok && (e.Code == codeClosed || e.Code == codeTimedOut) {
		if err = p.configure(ctx, s, object{"streaming_mode": true}); err == nil {
			s.ended, err = false, put()
		}
	}
	if err == nil {
		s.text = text
	}
	return err
}

// giveUp replaces a card by a message with all of its text: the card is closed and recalled.
// Failures are ignored.
func (p *Platform) giveUp(ctx context.Context, messageID string, s *stream) {
	p.metrics.cards.WithLabelValues("given up").Inc()
	p.recall(ctx, messageID, p.endStream(ctx, s))
}

// recall deletes a card whose text is sent as a message. because is what else failed. A failure is ignored.
func (p *Platform) recall(ctx context.Context, messageID string, because error) {
	_, gone := api.Call[struct{}](ctx, p.client, api.Request{Method: http.MethodDelete, Path: api.MessagePath(messageID)})
	if gone != nil {
		p.log.Warn("a card with an unfinished text could not be deleted", "error", errors.Join(because, gone))
	}
}

var (
	errNotEdited = errors.New("a text with buttons does not take the place of a draft")
	errNoCard    = errors.New("too many cards are written at the moment")
)

// endStream ends the streaming, once.
func (p *Platform) endStream(ctx context.Context, s *stream) error {
	if s.ended {
		return nil
	}
	// The summary is shown in lists of chats.
	summary := strings.Join(strings.Fields(botkit.Head(s.text, 200)), " ")
	err := p.configure(ctx, s, object{"streaming_mode": false, "summary": object{"content": summary}})
	s.ended = err == nil
	if s.ended {
		p.metrics.cards.WithLabelValues("ended").Inc()
	}
	return err
}

func (p *Platform) configure(ctx context.Context, s *stream, config object) error {
	settings, err := api.Encode(object{"config": config})
	if err != nil {
		return sendError(err)
	}
	return p.putStream(ctx, s, "/settings", object{"settings": settings})
}

// putStream changes a card. It is idempotent.
func (p *Platform) putStream(ctx context.Context, s *stream, path string, params object) error {
	method := http.MethodPut
	if path == "/settings" {
		method = http.MethodPatch
	}
	put := func() error {
		params["sequence"] = s.next(p.opts.Now())
		_, err := api.Post[json.RawMessage](ctx, p.client, method, "/open-apis/cardkit/v1/cards/"+url.PathEscape(s.id)+path, nil, params)
		return err
	}
	err := put()
	if e, ok := errors.AsType[*api.Error](err); ok && e.Code == codeSequence { // an earlier run used greater numbers
		s.seq += sequenceJump
		err = put()
	}
	return sendError(err)
}

// streamOf returns the card of a message; after a restart it asks the service.
func (p *Platform) streamOf(ctx context.Context, message string) (*stream, error) {
	if s, ok := p.streams.known.Get(message); ok {
		return s, nil
	}
	got, err := api.Post[struct {
		ID string `json:"card_id"`
	}](ctx, p.client, http.MethodPost, "/open-apis/cardkit/v1/cards/id_convert", nil, map[string]string{"message_id": message})
	if err == nil && got.ID == "" {
		return nil, &platform.Error{Reason: platform.SendNotFound, Err: errors.New("the message is not a card")}
	}
	if err != nil {
		return nil, sendError(err)
	}
	s := &stream{id: got.ID}
	p.streams.known.Put(message, s)
	return s, nil
}

// cardMarkdown escapes a text for the Markdown of cards, in which tags could mention people or make
// links: tags are shown literally.
func cardMarkdown(text string) string {
	return strings.NewReplacer("<", "&#60;", ">", "&#62;").Replace(text)
}
