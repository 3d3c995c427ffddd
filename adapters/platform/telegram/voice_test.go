package telegram_test

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/adapters/platform/faketest"
	"github.com/shipmyagent/shipmyagent/adapters/platform/telegramtest"
	"github.com/shipmyagent/shipmyagent/adapters/speech/speechtest"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

func voiceFile(t *testing.T) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "speech-0123.opus")
	stdtest.Must(t, os.WriteFile(file, speechtest.Voice(175), 0o600))
	return file
}

// People who do not accept voice messages get the text, once, with the reason.
func TestVoiceMessageThatIsNotTaken(t *testing.T) {
	for _, c := range []struct{ refusal, words, want string }{
		{"Bad Request: VOICE_MESSAGES_FORBIDDEN", "hello", "(Voice messages are not taken here, so in writing.)\n\nhello"},
		{"Bad Request: not enough rights to send voice notes to the chat", "你好", "（这里不接收语音消息，改为文字。）\n\n你好"},
		{"Bad Request: CHAT_SEND_VOICES_FORBIDDEN", strings.Repeat("😀", 3000), ""},
	} {
		b := newBench(t, nil)
		b.api.Fail(telegramtest.Fault{Method: "sendVoice", Kind: faketest.Refuse, Code: http.StatusBadRequest, Text: c.refusal})
		to := target(private, 0)
		part := platform.Part{ReplyTo: "3", Attachment: &platform.Attachment{Path: voiceFile(t), Kind: "voice", Spoken: c.words}}
		id, err := b.bot.Send(t.Context(), to, part)
		if err != nil || id.ID == "" {
			t.Fatalf("%s: %+v, %v", c.refusal, id, err)
		}
		calls := b.api.Calls("sendMessage")
		if len(calls) != 1 {
			t.Fatalf("%s: %d messages", c.refusal, len(calls))
		}
		text := calls[0].Params.Text("text")
		if c.want != "" && text != c.want {
			t.Errorf("%s: sent %q, want %q", c.refusal, text, c.want)
		}
		if n := len(utf16.Encode([]rune(text))); n > 4096 || strings.Contains(text, "\ufffd") || c.want == "" && !strings.HasSuffix(text, "😀…") {
			t.Errorf("%s: %d units, ends in %q", c.refusal, n, text[len(text)-8:])
		}
	}
}

// Other refusals remain refusals: the voice message is not replaced by text.
func TestVoiceMessageThatFails(t *testing.T) {
	for _, part := range []platform.Part{
		{Attachment: &platform.Attachment{Path: voiceFile(t), Kind: "voice", Spoken: "hello"}},
		{Attachment: &platform.Attachment{FileID: "known", Kind: "voice"}},
	} {
		b := newBench(t, nil)
		text := "Bad Request: wrong file identifier"
		if part.Attachment.Spoken == "" {
			text = "Bad Request: VOICE_MESSAGES_FORBIDDEN"
		}
		b.api.Fail(telegramtest.Fault{Method: "sendVoice", Kind: faketest.Refuse, Code: http.StatusBadRequest, Text: text})
		if _, err := b.bot.Send(t.Context(), target(private, 0), part); err == nil {
			t.Error("no error")
		}
		if n := len(b.api.Calls("sendMessage")); n != 0 {
			t.Errorf("%d messages", n)
		}
	}
}
