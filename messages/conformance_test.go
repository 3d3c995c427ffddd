package messages_test

import (
	"bytes"
	gocmp "cmp"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/shipmyagent/shipmyagent/messages/conformancetest"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/messages/uistream"
)

// TestConformance compares the subpackages of this package with the AI SDK. Kinds for the model
// adapter, the run loop or a client are skipped.
func TestConformance(t *testing.T) {
	conformancetest.Play(t, map[string]conformancetest.Check{
		"stream":       checkStream,
		"sse-encode":   checkSSEEncode,
		"partial-json": checkPartialJSON,
		"convert":      checkConvert,
		"validate":     checkValidate,
	})
}

// anyReason marks the places in an expected text whose wording is free.
const anyReason = "{{reason}}"

// same compares two JSON documents as values. Half a surrogate pair equals U+FFFD for
// encoding/json, on both sides.
func same(t *testing.T, what string, got, want []byte) {
	t.Helper()
	var g, w any
	if err := json.Unmarshal(got, &g); err != nil {
		t.Errorf("%s: got no JSON: %v", what, err)
		return
	}
	conformancetest.Decode(t, want, &w)
	texts := cmp.FilterValues(func(_, b string) bool { return strings.Contains(b, anyReason) }, cmp.Comparer(matches))
	if diff := cmp.Diff(g, w, texts); diff != "" {
		t.Errorf("%s: -got +want\n%s", what, diff)
	}
}

func matches(a, b string) bool {
	if strings.Contains(a, anyReason) {
		a, b = b, a
	}
	parts := strings.Split(b, anyReason)
	for i := range parts {
		parts[i] = regexp.QuoteMeta(parts[i])
	}
	return regexp.MustCompile("(?s)^" + strings.Join(parts, ".*") + "$").MatchString(a)
}

// expectedError is how a vector names an error.
type expectedError struct {
	Chunk int    `json:"chunk"`
	Name  string `json:"name"`
	errorWords
}

// errorWords are the members of errors that are for readers.
type errorWords struct {
	Message string          `json:"message"`
	Paths   json.RawMessage `json:"paths"`
	Context json.RawMessage `json:"context"`
	Cause   json.RawMessage `json:"cause"`
}

// errorName is the SDK's name for one of our errors.
func errorName(err error) string {
	var stream *uistream.StreamError
	switch {
	case errors.As(err, &stream):
		return "AI_UIMessageStreamError"
	case errors.Is(err, uistream.ErrMetadata):
		return "TypeError"
	default:
		return err.Error()
	}
}

type streamCase struct {
	conformancetest.Head
	Message json.RawMessage   `json:"message"`
	Chunks  []json.RawMessage `json:"chunks"`
	Expect  struct {
		Read struct {
			Steps  []json.RawMessage `json:"steps"`
			Last   json.RawMessage   `json:"last"`
			Errors []expectedError   `json:"errors"`
			Ended  string            `json:"ended"`
		} `json:"read"`
		Persist struct {
			Forwarded json.RawMessage `json:"forwarded"`
			Error     *expectedError  `json:"error"`
			Finish    json.RawMessage `json:"finish"`
		} `json:"persist"`
	} `json:"expect"`
}

func checkStream(t *testing.T, _ conformancetest.File, raw json.RawMessage) {
	t.Helper()
	var c streamCase
	conformancetest.Decode(t, raw, &c)
	var message *uimessage.Message
	if c.Message != nil {
		message = &uimessage.Message{}
		conformancetest.Decode(t, c.Message, message)
	}
	chunks := make([]uistream.Chunk, len(c.Chunks))
	for i, raw := range c.Chunks {
		var err error
		if chunks[i], err = uistream.DecodeChunk(raw); err != nil {
			t.Fatal(err)
		}
		same(t, "chunk written back", uistream.AppendJSON(nil, chunks[i]), raw)
	}
	t.Run("read", func(t *testing.T) { checkRead(t, c, message, chunks) })
	t.Run("persist", func(t *testing.T) { checkPersist(t, c, message, chunks) })
}

func checkRead(t *testing.T, c streamCase, message *uimessage.Message, chunks []uistream.Chunk) {
	t.Helper()
	want := c.Expect.Read
	r := uistream.NewReader(message)
	var errs []expectedError
	last, ended := []byte("null"), "complete"
	var snapshots []uimessage.Message
	var shown [][]byte
	steps := 0
	for i, chunk := range chunks {
		changed, err := r.Apply(chunk)
		steps++
		got := []byte("null")
		if changed && err == nil {
			last = uimessage.AppendJSON(nil, r.Message())
			got = last
			snapshots, shown = append(snapshots, r.Snapshot()), append(shown, last)
		}
		if i >= len(want.Steps) {
			t.Fatalf("chunk %d is applied, the SDK ended before it", i)
		}
		same(t, "after chunk "+string(c.Chunks[i]), got, want.Steps[i])
		if _, ok := chunk.(uistream.Error); ok {
			errs = append(errs, expectedError{Chunk: i, Name: "Error"})
		}
		if err != nil {
			errs = append(errs, expectedError{Chunk: i, Name: errorName(err)})
			ended = "failed"
			break
		}
	}
	if steps != len(want.Steps) || ended != want.Ended {
		t.Errorf("ended %s after %d chunks, want %s after %d", ended, steps, want.Ended, len(want.Steps))
	}
	same(t, "last", last, want.Last)
	for i := range want.Errors {
		want.Errors[i].errorWords = errorWords{}
	}
	if diff := cmp.Diff(errs, want.Errors, cmp.AllowUnexported(expectedError{})); diff != "" {
		t.Errorf("errors: -got +want\n%s", diff)
	}
	for i, m := range snapshots {
		if got := uimessage.AppendJSON(nil, m); !bytes.Equal(got, shown[i]) {
			t.Errorf("a snapshot changed later: got %s, was %s", got, shown[i])
		}
	}
}

func checkPersist(t *testing.T, c streamCase, message *uimessage.Message, chunks []uistream.Chunk) {
	t.Helper()
	want := c.Expect.Persist
	r := uistream.NewWriter(message, "response-1")
	forwarded := []byte{'['}
	var err error
	outcome := "unknown"
	var reason uistream.FinishReason
	for i, chunk := range chunks {
		if i > 0 {
			forwarded = append(forwarded, ',')
		}
		forwarded = uistream.AppendJSON(forwarded, r.Forward(chunk))
		switch c := chunk.(type) {
		case uistream.Abort:
			outcome = "aborted"
		case uistream.Finish:
			reason = gocmp.Or(c.Reason, reason)
		default:
		}
		if _, err = r.Apply(chunk); err != nil {
			break
		}
	}
	aborted := outcome == "aborted"
	if err != nil {
		outcome = "failed"
	}
	switch {
	case want.Error != nil && err == nil:
		t.Errorf("no error, want %s", want.Error.Name)
	case want.Error == nil && err != nil:
		t.Errorf("got error %v", err)
	case err != nil:
		if got := errorName(err); got != want.Error.Name {
			t.Errorf("got error %s, want %s", got, want.Error.Name)
		}
	default:
		if string(want.Forwarded) == `"same"` {
			want.Forwarded = append(append([]byte{'['}, bytes.Join(rawSlices(c.Chunks), []byte(","))...), ']')
		}
		same(t, "forwarded", append(forwarded, ']'), want.Forwarded)
	}
	ids := []string{"user-1"}
	if message != nil {
		ids = append(ids, message.ID)
	}
	m := r.Message()
	continued := message != nil && message.Role == uimessage.RoleAssistant && message.ID == m.ID
	if !continued {
		ids = append(ids, m.ID)
	}
	finish := map[string]any{
		"isContinuation": continued, "isAborted": aborted, "outcome": outcome,
		"messageIds": ids, "responseMessage": m,
	}
	if reason != "" {
		finish["finishReason"] = reason
	}
	got, err := json.Marshal(finish)
	stdtest.Must(t, err)
	same(t, "finish", got, want.Finish)
}

func rawSlices(list []json.RawMessage) [][]byte {
	out := make([][]byte, len(list))
	for i, raw := range list {
		out[i] = raw
	}
	return out
}

func checkPartialJSON(t *testing.T, _ conformancetest.File, raw json.RawMessage) {
	t.Helper()
	var c struct {
		conformancetest.Head
		Text   string `json:"text"`
		Expect struct {
			State string          `json:"state"`
			Value json.RawMessage `json:"value"`
		} `json:"expect"`
	}
	conformancetest.Decode(t, raw, &c)
	got, state := uistream.RepairJSON(c.Text)
	if string(state) != c.Expect.State {
		t.Errorf("state %s, want %s", state, c.Expect.State)
	}
	if (got == nil) != (c.Expect.Value == nil) {
		t.Fatalf("value %s, want %s", got, c.Expect.Value)
	}
	if got != nil {
		same(t, "value", got, c.Expect.Value)
	}
}

func checkSSEEncode(t *testing.T, _ conformancetest.File, raw json.RawMessage) {
	t.Helper()
	var c struct {
		conformancetest.Head
		Chunks  []json.RawMessage `json:"chunks"`
		Options struct {
			Status      int               `json:"status"`
			Headers     map[string]string `json:"headers"`
			KeepAliveMs int               `json:"keepAliveMs"`
		} `json:"options"`
		Expect struct {
			Status  int               `json:"status"`
			Headers map[string]string `json:"headers"`
			Body    string            `json:"body"`
		} `json:"expect"`
	}
	conformancetest.Decode(t, raw, &c)
	answer := httptest.NewRecorder()
	headers := answer.Header()
	for k, v := range c.Options.Headers {
		headers.Set(k, v)
	}
	uistream.SetHeaders(headers)
	answer.WriteHeader(gocmp.Or(c.Options.Status, http.StatusOK))
	if answer.Code != c.Expect.Status {
		t.Errorf("got status %d, want %d", answer.Code, c.Expect.Status)
	}
	got := map[string]string{}
	for k, v := range headers {
		got[strings.ToLower(k)] = strings.Join(v, ", ")
	}
	if diff := cmp.Diff(got, c.Expect.Headers); diff != "" {
		t.Errorf("headers: -got +want\n%s", diff)
	}
	var body []byte
	if c.Options.KeepAliveMs > 0 {
		body = append(body, uistream.Opened...)
	}
	for _, raw := range c.Chunks {
		chunk, err := uistream.DecodeChunk(raw)
		stdtest.Must(t, err)
		body = uistream.AppendEvent(body, chunk)
	}
	body = append(body, uistream.Done...)
	compareEvents(t, string(body), c.Expect.Body)
}

// compareEvents compares frame by frame: bytes, or the JSON in them if the order of members
// differs.
func compareEvents(t *testing.T, got, want string) {
	t.Helper()
	gotFrames, wantFrames := strings.Split(got, "\n\n"), strings.Split(want, "\n\n")
	if len(gotFrames) != len(wantFrames) {
		t.Fatalf("got %d frames, want %d:\n%s\n%s", len(gotFrames), len(wantFrames), got, want)
	}
	for i, frame := range gotFrames {
		if frame == wantFrames[i] {
			continue
		}
		g, isData := strings.CutPrefix(frame, "data: ")
		w, wantData := strings.CutPrefix(wantFrames[i], "data: ")
		if !isData || !wantData {
			t.Errorf("frame %d: got %q, want %q", i, frame, wantFrames[i])
			continue
		}
		same(t, "frame", []byte(g), []byte(w))
		for _, escape := range []string{`\u003`, `\u0026`, `\u2028`, `\u2029`} {
			if strings.Contains(g, escape) {
				t.Errorf("frame %d escapes more than JSON asks for: %q", i, g)
			}
		}
	}
}
