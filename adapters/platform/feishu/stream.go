package feishu

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
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
	// draftEvery is the usual time between two looks of a streaming card. The service
	// takes ten a second.
	draftEvery = 500 * time.Millisecond
	// streamElement is the element of a card that contains its text.
	streamElement = "answer"
	// maxStreams is how many cards are remembered by their messages.
	maxStreams = 1000
	// codeSequence is the answer to a number that is not greater than the last one;
	// then sequenceJump is added once.
	codeSequence = 300317
	sequenceJump = 10_000
	// codeClosed and codeTimedOut are the answers about a card that streams no more,
	// which the service sees to after ten minutes.
	codeClosed   = 300309
	codeTimedOut = 200850
	// maxEnds is how often the end of a text is tried in its card, when the service
	// fails, before it is sent as a message.
	maxEnds = 3
)

// stream is a card that shows an unfinished text.
type stream struct {
	id  string
	seq int64
	// text is what the card shows, ended that it streams no more.
	text  string
	ended bool
	fails int // of its end
	wrote time.Time
}

// streams are the cards of this run, by their messages. It is safe for concurrent use.
type streams struct {
	known *recent.Map[string, *stream]
	pace  pace
}

// next is a number greater than every one before, also than those of a run before
// this one: the service refuses others. It counts tenths of seconds.
func (s *stream) next(now time.Time) int64 {
	s.seq = max(s.seq+1, now.Sub(time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC)).Milliseconds()/100)
	return s.seq
}

// beginStream makes a card, sends it and so shows the beginning of a text. A failure
// is harmless: the complete text is sent as an ordinary message.
func (p *Platform) beginStream(ctx context.Context, out outgoing, part platform.Part) (messages.Receipt, error) {
	if !p.streams.pace.draft(time.Now()) {
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

// noDrafts lets drafts be for a while that the service does not want; what it says
// about them does not apply to messages.
func (p *Platform) noDrafts(err error) error {
	e, ok := errors.AsType[*platform.Error](err)
	if !ok || e.Reason == platform.SendNetwork {
		return err
	}
	pause := max(e.RetryAfter, draftPause)
	if a, is := errors.AsType[*apiError](err); is && a.Code == codeScope {
		pause = draftsOff
	} else if e.Reason == platform.SendForbidden || e.Reason == platform.SendNotFound {
		return err // of this chat
	}
	if p.streams.pace.rest(time.Now().Add(pause)) {
		p.log.Warn("texts under way are not shown for a while, since the service takes no cards", "pause", pause.String(), "error", err)
	}
	return &platform.Error{Reason: platform.SendRefused, Unknown: e.Unknown, Err: e.Err}
}

// sendCard makes a card that streams and sends it.
func (p *Platform) sendCard(ctx context.Context, out outgoing, part platform.Part) (message messages.Receipt, id string, err error) {
	card := object{
		"schema": "2.0",
		"config": object{"streaming_mode": true, "update_multi": true, "summary": object{"content": "…"}},
		"body":   object{"elements": []object{{"tag": "markdown", "element_id": streamElement, "content": cardMarkdown(part.Text)}}},
	}
	raw, err := encode(card)
	if err != nil {
		return message, "", sendError(err)
	}
	made, err := post[struct {
		ID string `json:"card_id"`
	}](ctx, p.client, http.MethodPost, "/open-apis/cardkit/v1/cards", nil, map[string]string{"type": "card_json", "data": raw})
	if err == nil && made.ID == "" {
		err = &callError{Call: "cards", Err: errors.New("the answer names no card")}
	}
	if err != nil {
		return message, "", harmless(sendError(err)) // people do not see a card that was not sent
	}
	out.Kind = "interactive"
	if out.Content, err = encode(object{"type": "card", "data": object{"card_id": made.ID}}); err != nil {
		return message, "", sendError(err)
	}
	message, err = p.create(ctx, out)
	return message, made.ID, err
}

// Edit implements [platform.Editor] for streaming cards: of a draft it shows more,
// and of the complete text it shows the end and leaves the streaming mode. A message
// that is no card of ours is not edited. After an error that is not to be tried again
// the card is gone, so that people do not see the text twice.
func (p *Platform) Edit(ctx context.Context, to platform.Target, messageID string, part platform.Part) error {
	if _, err := chatOf(to); err != nil {
		return err
	}
	s, err := p.streamOf(ctx, messageID)
	if err != nil {
		return err
	}
	if part.Draft {
		return p.showMore(ctx, s, part.Text)
	}
	if len(part.Asks) > 0 { // buttons are another kind of card
		p.giveUp(ctx, messageID, s)
		return &platform.Error{Reason: platform.SendRefused, Err: errNotEdited}
	}
	p.streams.pace.final(time.Now())
	if err := p.write(ctx, s, part.Text); err != nil {
		e, ok := errors.AsType[*platform.Error](err)
		if s.fails++; ok && e.Retryable && (e.Reason == platform.SendNetwork || s.fails < maxEnds) {
			return err
		}
		p.giveUp(ctx, messageID, s)
		return &platform.Error{Reason: platform.SendRefused, Err: err}
	}
	if err := p.endStream(ctx, s); err != nil {
		// People have the text. The service ends the streaming in the end.
		p.log.Warn("a card goes on streaming although its text is complete", "error", err)
	}
	return nil
}

// showMore shows more of an unfinished text, unless there is no room for that.
func (p *Platform) showMore(ctx context.Context, s *stream, text string) error {
	now := time.Now()
	if text == s.text || s.ended {
		return nil
	}
	if now.Sub(s.wrote) < time.Second/cardRate || !p.streams.pace.draft(now) {
		p.metrics.cards.WithLabelValues("skipped").Inc()
		return nil
	}
	if err := p.write(ctx, s, text); err != nil {
		return p.noDrafts(err)
	}
	return nil
}

// write makes a card show a text. One that streams no more is made to.
func (p *Platform) write(ctx context.Context, s *stream, text string) error {
	if text == s.text {
		return nil
	}
	s.wrote = time.Now()
	put := func() error {
		return p.putStream(ctx, s, "/elements/"+streamElement+"/content", object{"content": cardMarkdown(text)})
	}
	err := put()
	if e, ok := errors.AsType[*apiError](err); ok && (e.Code == codeClosed || e.Code == codeTimedOut) {
		if err = p.configure(ctx, s, object{"streaming_mode": true}); err == nil {
			s.ended, err = false, put()
		}
	}
	if err == nil {
		s.text = text
	}
	return err
}

// giveUp leaves a card for a message that has all of its text: it is closed, and taken
// back. What cannot be done about that stays as it is.
func (p *Platform) giveUp(ctx context.Context, messageID string, s *stream) {
	p.metrics.cards.WithLabelValues("given up").Inc()
	err := p.endStream(ctx, s)
	_, gone := call[struct{}](ctx, p.client, request{method: http.MethodDelete, path: messagePath(messageID)})
	if gone != nil {
		p.log.Warn("a card with a text under way stays where it is", "error", errors.Join(err, gone))
	}
}

var (
	errNotEdited = errors.New("a text with buttons does not take the place of a draft")
	errNoCard    = errors.New("too many cards are written at the moment")
)

// endStream leaves the streaming mode, once.
func (p *Platform) endStream(ctx context.Context, s *stream) error {
	if s.ended {
		return nil
	}
	// The summary is what lists of chats show.
	summary := strings.Join(strings.Fields(botkit.Head(s.text, 200)), " ")
	err := p.configure(ctx, s, object{"streaming_mode": false, "summary": object{"content": summary}})
	s.ended = err == nil
	if s.ended {
		p.metrics.cards.WithLabelValues("ended").Inc()
	}
	return err
}

func (p *Platform) configure(ctx context.Context, s *stream, config object) error {
	settings, err := encode(object{"config": config})
	if err != nil {
		return sendError(err)
	}
	return p.putStream(ctx, s, "/settings", object{"settings": settings})
}

// putStream changes a card. Doing so twice changes nothing more.
func (p *Platform) putStream(ctx context.Context, s *stream, path string, params object) error {
	method := http.MethodPut
	if path == "/settings" {
		method = http.MethodPatch
	}
	put := func() error {
		params["sequence"] = s.next(p.opts.Now())
		_, err := post[json.RawMessage](ctx, p.client, method, "/open-apis/cardkit/v1/cards/"+url.PathEscape(s.id)+path, nil, params)
		return err
	}
	err := put()
	if e, ok := errors.AsType[*apiError](err); ok && e.Code == codeSequence { // a run before this one was faster
		s.seq += sequenceJump
		err = put()
	}
	if err != nil {
		return sendError(err)
	}
	return nil
}

// streamOf is the card of a message; after a restart the service is asked.
func (p *Platform) streamOf(ctx context.Context, message string) (*stream, error) {
	if s, ok := p.streams.known.Get(message); ok {
		return s, nil
	}
	got, err := post[struct {
		ID string `json:"card_id"`
	}](ctx, p.client, http.MethodPost, "/open-apis/cardkit/v1/cards/id_convert", nil, map[string]string{"message_id": message})
	if err == nil && got.ID == "" {
		return nil, &platform.Error{Reason: platform.SendNotFound, Err: errors.New("the message is no card")}
	}
	if err != nil {
		return nil, sendError(err)
	}
	s := &stream{id: got.ID}
	p.streams.known.Put(message, s)
	return s, nil
}

func encode(v any) (string, error) {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil { // Unreachable: our own values
		return "", err
	}
	return strings.TrimSuffix(out.String(), "\n"), nil
}

// cardMarkdown is a text for the Markdown of cards, in which tags could name people
// and be links: they are shown as they were typed.
func cardMarkdown(text string) string {
	return strings.NewReplacer("<", "&#60;", ">", "&#62;").Replace(text)
}
