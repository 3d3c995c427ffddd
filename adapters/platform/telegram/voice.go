package telegram

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"unicode"

	"github.com/shipmyagent/shipmyagent/adapters/internal/ogg"
	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/adapters/platform/telegram/internal/wire"
)

// uploadName is the file name sent to the service. The extension for Opus in Ogg makes the file a
// voice message.
func uploadName(a platform.Attachment) string {
	name := filepath.Base(a.Path)
	if a.Kind == platform.FileVoice && filepath.Ext(name) == ".opus" {
		return strings.TrimSuffix(name, ".opus") + ".ogg"
	}
	return name
}

// voiceSeconds is the playing time of a voice message of ours, or 0 if unknown.
func voiceSeconds(a platform.Attachment) int {
	f, err := os.Open(a.Path)
	if err != nil {
		return 0
	}
	defer f.Close() //nolint:errcheck // only read from
	plays, err := ogg.Length(f)
	if err != nil {
		return 0
	}
	return int(plays.Seconds() + 0.5)
}

// isVoiceForbidden reports that a person does not accept voice messages, or a group forbids them.
func isVoiceForbidden(err error) bool {
	e, ok := errors.AsType[*apiError](err)
	return ok && says(e, "voice_messages_forbidden", "chat_send_voices_forbidden", "not enough rights to send voice")
}

// inWriting sends the text of a voice message to a chat that does not accept voice messages.
func (p *Platform) inWriting(ctx context.Context, to platform.Target, part platform.Part) (int64, error) {
	out, err := p.address(to)
	if err != nil {
		return 0, err
	}
	words := part.Attachment.Spoken
	why := "(Voice messages are not taken here, so in writing.)\n\n"
	if strings.ContainsFunc(words, func(r rune) bool { return unicode.Is(unicode.Han, r) }) {
		why = "（这里不接收语音消息，改为文字。）\n\n"
	}
	text := why + words
	for _, n := range []int{maxText - 2, maxText - 1} { // never cut within a character
		if short, ok := wire.Slice(text, 0, n); ok && len(short) < len(text) {
			text = short + "…"
			break
		}
	}
	out.Reply = replyTo(part.ReplyTo)
	sent, err := posting[sentMessage](ctx, p, "sendMessage", out, platform.Part{Text: text, Asks: part.Asks})
	return sent.ID, err
}
