package cli

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/internal/markup"
	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/messages/uistream"
)

// RefusedError is an error response of the host.
type RefusedError struct {
	Status  int
	Code    string // for programs, such as busy
	Message string // for people
}

func (e *RefusedError) Error() string { return e.Message }

// Client talks to a host over its control socket. It is safe for concurrent use. Every method fails
// with [ErrNotRunning] if no host listens, and with [*RefusedError] if the host refuses the
// request.
type Client struct{ http *http.Client }

// NewClient returns a client of the socket at a path. It connects on first use.
func NewClient(socket string) *Client {
	return &Client{http: &http.Client{Transport: &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) { return Dial(ctx, socket) },
		// Room for a stream and concurrent requests.
		MaxIdleConnsPerHost: 4, IdleConnTimeout: 30 * time.Second,
	}}}
}

// Close closes idle connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// do sends a request. body is encoded as JSON, unless it is a reader.
func (c *Client) do(ctx context.Context, method, path string, body any, headers ...string) (*http.Response, error) {
	payload, isRaw := body.(io.Reader)
	if body != nil && !isRaw {
		raw, err := json.Marshal(body)
		if err != nil {
			return nil, fmt.Errorf("encode request: %w", err)
		}
		payload = bytes.NewReader(raw)
	}
	req, err := http.NewRequestWithContext(ctx, method, "http://localhost"+path, payload)
	if err != nil {
		return nil, fmt.Errorf("request: %w", err)
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	res, err := c.http.Do(req)
	if err != nil {
		if errors.Is(err, ErrNotRunning) {
			return nil, ErrNotRunning
		}
		return nil, fmt.Errorf("ask the host: %w", err)
	}
	if res.StatusCode >= http.StatusMultipleChoices {
		defer func() { _ = res.Body.Close() }() // only as much as needed was read
		return nil, refusal(res)
	}
	return res, nil
}

func refusal(res *http.Response) error {
	out := &RefusedError{Status: res.StatusCode, Message: res.Status}
	var body struct{ Error, Message string }
	if json.NewDecoder(io.LimitReader(res.Body, 1<<16)).Decode(&body) == nil && body.Message != "" {
		out.Code, out.Message = body.Error, body.Message
	}
	return out
}

func (c *Client) json(ctx context.Context, method, path string, body, out any, headers ...string) error {
	res, err := c.do(ctx, method, path, body, headers...)
	if err != nil {
		return err
	}
	defer func() { _ = res.Body.Close() }() // everything was read
	if err := json.NewDecoder(res.Body).Decode(out); err != nil {
		return fmt.Errorf("answer of the host: %w", err)
	}
	return nil
}

func chatPath(chat, rest string) string { return "/api/chat/" + url.PathEscape(chat) + rest }

type chatBody struct {
	ID      string      `json:"id"`
	Trigger string      `json:"trigger"`
	Message chatMessage `json:"message"`
}

type chatMessage struct {
	ID    string         `json:"id,omitempty"`
	Role  uimessage.Role `json:"role"`
	Parts []chatPart     `json:"parts"`
}

// chatPart is a text or a file.
type chatPart struct {
	Type string `json:"type"`
	Text string `json:"text,omitempty"`
	*File
}

func newBody(chat, id, text string, files []File) chatBody {
	m := chatMessage{ID: id, Role: uimessage.RoleUser}
	if text != "" || len(files) == 0 {
		m.Parts = append(m.Parts, chatPart{Type: "text", Text: text})
	}
	for i := range files {
		m.Parts = append(m.Parts, chatPart{Type: "file", File: &files[i]})
	}
	return chatBody{ID: chat, Trigger: "submit-message", Message: m}
}

// Send hands a message to a chat and returns the id of its turn as soon as it is durable. id may be
// empty; sending the same id and text again gives the same turn, and with another text it fails
// with a [*RefusedError] whose code is [CodeReused]. The host answers a command at
// once, and its answer is plain text here.
func (c *Client) Send(ctx context.Context, chat, id, text string, files ...File) (turn, answer string, err error) {
	var out struct{ TurnID, Answer string }
	err = c.json(ctx, http.MethodPost, "/api/chat", newBody(chat, id, text, files), &out, append(keyOf(id), "Prefer", "respond-async")...)
	return out.TurnID, markup.New().Plain(out.Answer), err
}

// The codes of refusals of an id that was used before.
const (
	CodeReused    = "key_reused" // for another message
	CodeCompacted = "compacted"  // for a message whose answer is not in the history any more, or that had none
)

// keyOf is the header by which the host takes a message once.
func keyOf(id string) []string {
	if id == "" {
		return nil
	}
	return []string{"Idempotency-Key", id}
}

// Ask sends a message and returns the answer when it is complete. onText, if not nil, is called
// with the pieces of its text as they arrive.
func (c *Client) Ask(ctx context.Context, chat, id, text string, onText func(string), files ...File) (uimessage.Message, error) {
	res, err := c.do(ctx, http.MethodPost, "/api/chat", newBody(chat, id, text, files), keyOf(id)...)
	if err != nil {
		return uimessage.Message{}, err
	}
	defer func() { _ = res.Body.Close() }() // everything was read
	answer := asking{reader: uistream.NewReader(nil), onText: onText}
	for data, err := range lines(res.Body) {
		if err != nil {
			return answer.reader.Message(), err
		}
		if string(data) == "[DONE]" {
			return answer.reader.Message(), nil
		}
		chunk, err := uistream.DecodeChunk(data)
		if err == nil {
			err = answer.take(chunk)
		}
		if err != nil {
			return answer.reader.Message(), fmt.Errorf("answer of the host: %w", err)
		}
	}
	return answer.reader.Message(), io.ErrUnexpectedEOF
}

// asking is an answer in progress.
type asking struct {
	reader *uistream.Reducer
	onText func(string)
	said   bool
	begins bool   // the next words begin another part, which is on a line of its own
	byHost bool   // the host answers itself, in Markdown in which punctuation is escaped
	notice string // the host's remark about the end of the answer
}

// take adds a chunk. The host's remark about the end becomes a paragraph of its own. For a failed
// answer the caller requests the outcome instead, see [Client.Outcome].
func (a *asking) take(chunk uistream.Chunk) error {
	if start, ok := chunk.(uistream.Start); ok {
		a.byHost = strings.HasPrefix(start.MessageID.Or(""), "h:")
	}
	if start, ok := chunk.(uistream.TextStart); ok {
		if start.ID == uistream.NoticeID {
			return nil
		}
		a.begins = a.said
	}
	if end, ok := chunk.(uistream.TextEnd); ok && end.ID == uistream.NoticeID {
		return nil
	}
	if text, ok := chunk.(uistream.TextDelta); ok {
		if text.ID == uistream.NoticeID {
			a.notice += text.Delta
			return nil
		}
		if a.byHost { // the whole answer is one delta
			text.Delta = markup.New().Plain(text.Delta)
			chunk = text
		}
		if a.begins && text.Delta != "" {
			a.begins = false
			a.say("\n")
		}
		a.say(text.Delta)
	}
	if finish, ok := chunk.(uistream.Finish); ok && finish.Reason != uistream.FinishError && a.notice != "" {
		if err := a.close(); err != nil {
			return err
		}
	}
	_, err := a.reader.Apply(chunk)
	return err
}

// close adds the host's remark about the end.
func (a *asking) close() error {
	words := a.notice
	if a.said {
		a.say("\n")
		words = "\n" + words // parts of a message are joined by a line break
	}
	a.say(words)
	for _, part := range uistream.Notice(words) {
		if _, err := a.reader.Apply(part); err != nil {
			return err
		}
	}
	return nil
}

func (a *asking) say(words string) {
	if words != "" && a.onText != nil {
		a.said = true
		a.onText(words)
	}
}

// Outcome is the outcome of a message.
type Outcome struct {
	State   string          `json:"state"`             // answered, waiting or failed
	Reason  string          `json:"reason,omitempty"`  // of a failed one, a code for programs
	Error   string          `json:"error,omitempty"`   // of a failed one, a sentence for people
	Waiting json.RawMessage `json:"waiting,omitempty"` // requests that need a decision
	Demo    bool            `json:"demo,omitempty"`
	Text    string          `json:"text,omitempty"` // of the answer
	// Message is what the agent wrote and did after a decision, if the message was one.
	Message *uimessage.Message `json:"message,omitempty"`
}

// Outcome waits until the run of a message has ended and returns its outcome. A message that is not
// in the history was answered by the host itself, for example a command. After a decision, the run
// is the one that it continued.
func (c *Client) Outcome(ctx context.Context, chat, turn string, chinese bool) (Outcome, error) {
	language := "en"
	if chinese {
		language = "zh"
	}
	var out Outcome
	err := c.json(ctx, http.MethodGet, chatPath(chat, "/outcome?turn="+url.QueryEscape(turn)), nil, &out, "Accept-Language", language)
	if refused, ok := errors.AsType[*RefusedError](err); ok && (refused.Status == http.StatusNotFound || refused.Status == http.StatusGone) {
		return Outcome{State: "answered"}, nil
	}
	return out, err
}

// Stop ends the current run of a chat; it returns false if there is none. all also drops the
// pending turns.
func (c *Client) Stop(ctx context.Context, chat string, all bool) (bool, error) {
	var out struct{ Stopped bool }
	err := c.json(ctx, http.MethodPost, chatPath(chat, "/stop"), map[string]bool{"all": all}, &out)
	return out.Stopped, err
}

// View is the current state of a chat.
type View struct {
	Messages []uimessage.Message `json:"messages"`
	Waiting  []uimessage.Message `json:"waiting"`
	Running  bool                `json:"running"`
	Counts   platform.Counts     `json:"counts"`
}

// History returns the current state of a chat; an unknown one is empty.
func (c *Client) History(ctx context.Context, chat string) (View, error) {
	var out View
	err := c.json(ctx, http.MethodGet, chatPath(chat, "/view"), nil, &out)
	var refused *RefusedError
	if errors.As(err, &refused) && refused.Status == http.StatusNotFound {
		return View{}, nil
	}
	return out, err
}

// Status describes a running host.
type Status struct {
	Project string `json:"project"`
	Model   string `json:"model"`
	Demo    bool   `json:"demo"`
	Version string `json:"version"`
}

// Status requests the host's status.
func (c *Client) Status(ctx context.Context) (Status, error) {
	var out Status
	err := c.json(ctx, http.MethodGet, "/api/info", nil, &out)
	return out, err
}

// Watch yields what happens in a chat, beginning with an event of kind view. It ends without an
// error when the host passivates the chat; watching again continues.
func (c *Client) Watch(ctx context.Context, chat string) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		res, err := c.do(ctx, http.MethodGet, chatPath(chat, "/events"), nil)
		if err != nil {
			yield(Event{}, err)
			return
		}
		defer func() { _ = res.Body.Close() }() // nothing more is needed once the caller stops
		for data, err := range lines(res.Body) {
			var e Event
			if err == nil {
				e, err = decodeEvent(data)
			}
			if !yield(e, err) || err != nil {
				return
			}
		}
	}
}

// maxLine bounds one event; a view contains a whole history.
const maxLine = 64 << 20

// lines yields the data of server-sent events of one line each.
func lines(r io.Reader) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		scan := bufio.NewScanner(r)
		scan.Buffer(nil, maxLine)
		for scan.Scan() {
			if data, ok := strings.CutPrefix(scan.Text(), "data: "); ok && !yield([]byte(data), nil) {
				return
			}
		}
		if err := scan.Err(); err != nil {
			yield(nil, fmt.Errorf("stream of the host: %w", err))
		}
	}
}
