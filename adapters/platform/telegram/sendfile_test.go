package telegram_test

import (
	"bytes"
	"errors"
	"image"
	"image/png"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/adapters/platform/faketest"
	"github.com/shipmyagent/shipmyagent/adapters/platform/telegram"
	"github.com/shipmyagent/shipmyagent/adapters/platform/telegramtest"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

// picture writes a picture of w by h pixels.
func picture(t *testing.T, w, h int) string {
	t.Helper()
	var out bytes.Buffer
	stdtest.Must(t, png.Encode(&out, image.NewGray(image.Rect(0, 0, w, h))))
	return written(t, "picture.png", out.Bytes())
}

func written(t *testing.T, name string, content []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	stdtest.Must(t, os.WriteFile(path, content, 0o600))
	return path
}

// A picture that the service cannot display is sent as a document, with its caption; one that may
// not be sent is not.
func TestPicturesThatAreNone(t *testing.T) {
	for _, c := range []struct {
		name, path, text string
		methods          []string
		reason           platform.SendReason
	}{
		{"usual", picture(t, 40, 30), "", []string{"sendPhoto"}, ""},
		{"too tall", picture(t, 10, 201), "", []string{"sendPhoto", "sendDocument"}, ""},
		{"too large", picture(t, 5001, 5000), "", []string{"sendPhoto", "sendDocument"}, ""},
		{"no picture", written(t, "x.svg", []byte("<svg/>")), "", []string{"sendPhoto", "sendDocument"}, ""},
		{"too many bytes", picture(t, 1, 1), "Bad Request: file of size 10485761 bytes is too big for a photo; the maximum size is 10485760 bytes", []string{"sendPhoto", "sendDocument"}, ""},
		{"not allowed", picture(t, 1, 1), "Bad Request: not enough rights to send photos to the chat", []string{"sendPhoto"}, platform.SendForbidden},
		{"empty", written(t, "e.png", nil), "", []string{"sendPhoto"}, platform.SendRefused},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t, nil)
			if c.text != "" {
				b.api.Fail(telegramtest.Fault{Method: "sendPhoto", Kind: faketest.Refuse, Code: http.StatusBadRequest, Text: c.text})
			}
			part := b.bot.Plan(platform.Outbound{ReplyTo: "3", Attachments: []platform.Attachment{{Path: c.path, Kind: "photo", Caption: "**so**"}}})[0]
			_, err := b.bot.Send(t.Context(), target(forum, 5), part)
			if e, _ := errors.AsType[*platform.Error](err); (err != nil) != (c.reason != "") || e != nil && e.Reason != c.reason {
				t.Errorf("got %v", err)
			}
			var methods []string
			for _, call := range b.api.Calls("") {
				methods = append(methods, call.Method)
				if p := call.Params; p.Text("caption") != "<b>so</b>" || p.Text("message_thread_id") != "5" || p.Text("reply_parameters") == "" {
					t.Errorf("%s %v", call.Method, p.Text("caption"))
				}
			}
			stdtest.Diff(t, "calls", c.methods, methods)
		})
	}
}

// A file that is too large is not retried, because the result would be the same.
func TestFilesThatAreTooLarge(t *testing.T) {
	part := platform.Part{Attachment: &platform.Attachment{Path: written(t, "a.bin", make([]byte, 2000)), Kind: "document"}}
	for name, page := range map[string]bool{"told as an answer": false, "told by a proxy": true} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, func(o *telegram.Options) {
				if page {
					o.HTTPClient = &http.Client{Transport: tooLarge{}}
				}
			})
			b.api.LargestUpload(1999)
			_, err := b.bot.Send(t.Context(), target(private, 0), part)
			e, ok := errors.AsType[*platform.Error](err)
			if !ok || e.Reason != platform.SendRefused || e.Retryable || e.Unknown || !strings.Contains(err.Error(), "larger than") {
				t.Errorf("got %#v", err)
			}
		})
	}
	t.Run("known before", func(t *testing.T) {
		big := written(t, "big.bin", nil)
		stdtest.Must(t, os.Truncate(big, 50<<20+1))
		b := newBench(t, func(o *telegram.Options) { o.BaseURL, o.HTTPClient = "", &http.Client{Transport: tooLarge{}} })
		_, err := b.bot.Send(t.Context(), target(private, 0), platform.Part{Attachment: &platform.Attachment{Path: big, Kind: "video"}})
		if e, ok := errors.AsType[*platform.Error](err); !ok || e.Reason != platform.SendRefused || e.Retryable {
			t.Errorf("got %#v", err)
		}
	})
}

// tooLarge is a proxy in front of the service that refuses large requests.
type tooLarge struct{}

func (tooLarge) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body != nil {
		_ = r.Body.Close()
	}
	page := "<html>\r\n<head><title>413 Request Entity Too Large</title></head>\r\n</html>"
	return &http.Response{StatusCode: http.StatusRequestEntityTooLarge, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(page)), Request: r}, nil
}

// A text that is too long with its markup is sent without it: the visible text is within the limit.
func TestMarkupThatMakesATextTooLong(t *testing.T) {
	b := newBench(t, nil)
	long := strings.Repeat("<b></b>", 5000)
	id, err := b.bot.Send(t.Context(), target(private, 0), platform.Part{Text: "y", Markup: long + "y"})
	stdtest.Must(t, err)
	if err := b.bot.Edit(t.Context(), target(private, 0), id.ID, platform.Part{Text: "x", Markup: long + "x"}); err != nil {
		t.Error(err)
	}
	if got := b.api.Sent(private); len(got) != 1 || got[0].Text != "x" || got[0].Edits != 1 {
		t.Errorf("people see %+v", got)
	}
}

// An edit that only changes the formatting is sent.
func TestAnEditOfTheFormAlone(t *testing.T) {
	b := newBench(t, nil)
	to := target(private, 0)
	id, err := b.bot.Send(t.Context(), to, platform.Part{Text: "x"})
	stdtest.Must(t, err)
	for range 2 { // repeating it changes nothing, and is not an error
		if err := b.bot.Edit(t.Context(), to, id.ID, platform.Part{Text: "x", Markup: "<b>x</b>"}); err != nil {
			t.Error(err)
		}
	}
	if got := b.api.Sent(private); got[0].Edits != 1 {
		t.Errorf("got %+v", got)
	}
}

// Files have no buttons: the buttons of a request are below its text.
func TestButtonsBesideAFile(t *testing.T) {
	b := newBench(t, func(o *telegram.Options) { o.Decide = (&decisions{}).decide })
	asks := []messages.Ask{{N: 1, ApprovalID: "id", Digest: strings.Repeat("a", 64)}}
	for _, part := range b.bot.Plan(platform.Outbound{Text: "may I?", Asks: asks, Attachments: []platform.Attachment{{Path: written(t, "a.txt", []byte("x"))}}}) {
		if _, err := b.bot.Send(t.Context(), target(private, 0), part); err != nil {
			t.Fatal(err)
		}
	}
	if got := b.api.Sent(private); len(got) != 2 || len(got[0].Buttons) != 1 || len(got[1].Buttons) != 0 {
		t.Errorf("people see %+v", got)
	}
}

// news is a service whose answers have content that the library does not know.
type news struct{}

func (news) RoundTrip(r *http.Request) (*http.Response, error) {
	if _, err := io.Copy(io.Discard, r.Body); err != nil {
		return nil, err
	}
	answer := `{"ok":true,"result":{"message_id":7,"date":1700000000,"chat":{"id":77,"type":"private"},"photo":"of a new kind"}}`
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(answer)), Request: r}, nil
}

// A file that was sent is not sent again because its answer has content of a new kind.
func TestAnswersWithNewContent(t *testing.T) {
	b := newBench(t, func(o *telegram.Options) { o.HTTPClient = &http.Client{Transport: news{}} })
	part := platform.Part{Attachment: &platform.Attachment{Path: picture(t, 40, 30), Kind: "photo"}}
	if made, err := b.bot.Send(t.Context(), target(private, 0), part); err != nil || made.ID != "7" {
		t.Errorf("got %+v, %v", made, err)
	}
}
