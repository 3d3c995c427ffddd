package telegram

import (
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"

	"github.com/go-telegram/bot"
	"github.com/go-telegram/bot/models"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
)

const (
	// maxUpload is the maximum size of a file that the service accepts from a bot, and maxOwnUpload
	// that of a self-hosted Bot API server, in bytes.
	maxUpload    = 50 << 20
	maxOwnUpload = 2000 << 20
)

var errTooLarge = errors.New("the file is larger than the service accepts from a bot")

// sendFile sends an attachment with its caption.
func (p *Platform) sendFile(ctx context.Context, to platform.Target, part platform.Part) (int64, error) {
	send := func(caption string, mode models.ParseMode) (sentMessage, error) {
		file, done, err := p.open(*part.Attachment)
		if err != nil {
			return sentMessage{}, &platform.Error{Reason: platform.SendRefused, Err: err}
		}
		defer done()
		return p.upload(ctx, to, part, file, caption, mode)
	}
	caption, mode := part.Text, models.ParseMode("")
	if part.Markup != "" {
		caption, mode = part.Markup, models.ParseModeHTML
	}
	sent, err := send(caption, mode)
	if mode != "" && err != nil && isMarkupRefused(err) {
		p.metrics.plainText.Inc()
		sent, err = send(part.Text, "")
	}
	if err != nil && part.Attachment.Spoken != "" && isVoiceForbidden(err) {
		return p.inWriting(ctx, to, part)
	}
	if isNoPhoto(*part.Attachment, err) {
		p.log.Info("the service does not accept this picture as a photo, so it is sent as a document", "error", err)
		whole := *part.Attachment
		whole.Kind = platform.FileDocument
		part.Attachment = &whole
		return p.sendFile(ctx, to, part)
	}
	if _, ok := errors.AsType[*platform.Error](err); ok {
		return 0, err
	}
	if err != nil {
		return 0, sendError(err)
	}
	return sent.ID, nil
}

// isNoPhoto reports that the service cannot display a picture: it accepts up to 10 MB, at most
// 10,000 for the sum of the sides and at most 20 for their ratio. Any file can be sent as a
// document.
func isNoPhoto(a platform.Attachment, err error) bool {
	e, ok := errors.AsType[*apiError](err)
	return ok && a.Kind == "photo" && a.Path != "" && e.Code == http.StatusBadRequest && refusal(e).Reason == platform.SendRefused &&
		says(e, "photo", "image_process_failed")
}

// open makes an input of an attachment. It exposes only the base name of the file, never its path.
func (p *Platform) open(a platform.Attachment) (models.InputFile, func(), error) {
	if a.FileID != "" {
		return &models.InputFileString{Data: a.FileID}, func() {}, nil
	}
	if a.Path == "" {
		return nil, nil, errNoMedia
	}
	f, err := os.Open(a.Path)
	if err != nil {
		return nil, nil, err
	}
	most := int64(maxOwnUpload)
	if strings.TrimRight(p.opts.BaseURL, "/") == defaultBaseURL {
		most = maxUpload
	}
	if info, err := f.Stat(); err == nil && info.Size() > most { // the service would break the connection instead of answering
		_ = f.Close()
		return nil, nil, errTooLarge
	}
	return &models.InputFileUpload{Filename: uploadName(a), Data: f}, func() { _ = f.Close() }, nil
}

// upload calls the method for the attachment's kind.
func (p *Platform) upload(ctx context.Context, to platform.Target, part platform.Part, file models.InputFile, caption string, mode models.ParseMode) (sentMessage, error) {
	out, err := p.address(to)
	if err != nil {
		return sentMessage{}, err
	}
	u := &uploading{client: p.client}
	b, err := bot.New(p.client.secret(), bot.WithSkipGetMe(), bot.WithServerURL(strings.TrimRight(p.opts.BaseURL, "/")), bot.WithHTTPClient(0, u),
		bot.WithErrorsHandler(func(err error) { p.log.Debug("an upload failed", "error", p.client.bare(err)) }))
	if err != nil {
		return sentMessage{}, &callError{Call: "upload", Err: p.client.bare(err)}
	}
	chat, thread := chatID(out), int(out.Thread)
	reply := replyTo(part.ReplyTo)
	switch part.Attachment.Kind {
	case "photo":
		_, err = b.SendPhoto(ctx, &bot.SendPhotoParams{ChatID: chat, MessageThreadID: thread, Photo: file, Caption: caption, ParseMode: mode, ReplyParameters: reply})
	case "voice":
		_, err = b.SendVoice(ctx, &bot.SendVoiceParams{ChatID: chat, MessageThreadID: thread, Voice: file, Duration: voiceSeconds(*part.Attachment), Caption: caption, ParseMode: mode, ReplyParameters: reply})
	case "audio":
		_, err = b.SendAudio(ctx, &bot.SendAudioParams{ChatID: chat, MessageThreadID: thread, Audio: file, Caption: caption, ParseMode: mode, ReplyParameters: reply})
	case "video":
		_, err = b.SendVideo(ctx, &bot.SendVideoParams{ChatID: chat, MessageThreadID: thread, Video: file, Caption: caption, ParseMode: mode, ReplyParameters: reply})
	default:
		_, err = b.SendDocument(ctx, &bot.SendDocumentParams{ChatID: chat, MessageThreadID: thread, Document: file, Caption: caption, ParseMode: mode, ReplyParameters: reply})
	}
	if u.err == nil && err != nil { // the library made no request
		return sentMessage{}, &callError{Call: "upload", Err: p.client.bare(err)}
	}
	return u.sent, u.err
}

func chatID(out outgoing) any {
	if n, err := strconv.ParseInt(string(out.Chat), 10, 64); err == nil {
		return n
	}
	return strings.Trim(string(out.Chat), `"`)
}

// uploading lets the library make the form of an upload, and reads the answer like that of any other
// call. The library itself would decode the whole message.
type uploading struct {
	*client

	sent sentMessage
	err  error
}

// Do implements [bot.HttpClient].
func (u *uploading) Do(req *http.Request) (*http.Response, error) {
	if u.sent, u.err = answered[sentMessage](u.client, req, "upload"); u.err != nil {
		return nil, u.err
	}
	return &http.Response{Body: io.NopCloser(strings.NewReader(`{"ok":true,"result":{}}`))}, nil
}
