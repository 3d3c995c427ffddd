package feishu

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/shipmyagent/shipmyagent/adapters/internal/ogg"
	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/adapters/platform/feishu/internal/api"
)

// The maximum sizes of files that the service accepts, in bytes.
const (
	maxImage = 10 << 20
	maxFile  = 30 << 20
)

// upload sends a file to the service and returns the message that shows it. It does not create that
// message, so after a failure people cannot have seen anything.
func (p *Platform) upload(ctx context.Context, a platform.Attachment) (kind, content string, err error) {
	if a.FileID != "" {
		return p.resend(ctx, a)
	}
	refuse := func(err error) (string, string, error) {
		return "", "", &platform.Error{Reason: platform.SendRefused, Err: err}
	}
	if a.Path == "" {
		return refuse(errNoMedia)
	}
	info, err := os.Stat(a.Path)
	switch {
	case err != nil:
		return refuse(err)
	case !info.Mode().IsRegular():
		return refuse(errors.New("the attachment is not a regular file"))
	case info.Size() == 0:
		return refuse(errors.New("the attachment is empty, which Feishu does not accept"))
	case info.Size() > maxFile:
		return refuse(fmt.Errorf("the attachment has %d MB; Feishu accepts at most 30", info.Size()>>20))
	}
	if a.Kind == "photo" && info.Size() <= maxImage {
		got, err := p.uploading(ctx, a.Path, "image", map[string]string{"image_type": "message"})
		if err == nil {
			return "image", key("image_key", got.Image), nil
		}
		if e, ok := errors.AsType[*api.Error](err); !ok || refusal(e).Reason != platform.SendRefused {
			return "", "", harmless(sendError(err))
		}
		// The service does not accept it as a picture, so it is sent as a file.
	}
	kind, form := fileKind(a)
	fields := map[string]string{"file_type": form, "file_name": filepath.Base(a.Path)}
	if ms := playing(a.Path, kind); ms > 0 {
		fields["duration"] = strconv.FormatInt(ms, 10)
	}
	got, err := p.uploading(ctx, a.Path, "file", fields)
	if err != nil {
		return "", "", harmless(sendError(err))
	}
	return kind, key("file_key", got.File), nil
}

// resend uploads a file that people have sent: in a message the service accepts only keys of files
// that the app has uploaded itself.
func (p *Platform) resend(ctx context.Context, a platform.Attachment) (kind, content string, err error) {
	_, key, ok := fileOf(a.FileID)
	if !ok {
		return "", "", &platform.Error{Reason: platform.SendRefused, Err: platform.ErrNoFile}
	}
	source, name := platform.File{FileID: a.FileID, Kind: a.Kind}, map[string]string{"voice": "voice.opus", "audio": "voice.opus", "video": "video.mp4"}[a.Kind]
	if strings.HasPrefix(key, "img_") {
		source.Kind, a.Kind, name = kindPhoto, kindPhoto, "picture"
	} else if source.Kind == kindPhoto {
		source.Kind, a.Kind = "document", "document"
	}
	dir, err := os.MkdirTemp("", "sma-feishu-")
	if err != nil {
		return "", "", &platform.Error{Reason: platform.SendRefused, Err: err}
	}
	defer os.RemoveAll(dir) //nolint:errcheck // what stays is a temporary file
	a.FileID, a.Path = "", filepath.Join(dir, cmp.Or(name, "file"))
	f, err := os.OpenFile(a.Path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return "", "", &platform.Error{Reason: platform.SendRefused, Err: err}
	}
	if err := errors.Join(p.Download(ctx, source, f, maxFile), f.Close()); err != nil {
		if errors.Is(err, platform.ErrNoFile) || errors.Is(err, platform.ErrTooLarge) {
			return "", "", &platform.Error{Reason: platform.SendRefused, Err: err}
		}
		return "", "", harmless(sendError(err))
	}
	return p.upload(ctx, a)
}

// playing returns the playing time of a voice message in milliseconds, or 0 if it is unknown.
func playing(path, kind string) int64 {
	if kind != "audio" {
		return 0
	}
	f, err := os.Open(path)
	if err != nil {
		return 0
	}
	defer f.Close() //nolint:errcheck // it was read
	length, err := ogg.Length(f)
	if err != nil {
		return 0
	}
	return length.Milliseconds()
}

// fileKind returns the type of the message and of the file, derived from the attachment's own
// claims.
func fileKind(a platform.Attachment) (kind, form string) {
	ext := strings.TrimPrefix(strings.ToLower(filepath.Ext(a.Path)), ".")
	switch ext {
	case "opus":
		if a.Kind == "voice" || a.Kind == "audio" {
			return "audio", ext
		}
		return "file", ext
	case "mp4":
		if a.Kind == "video" {
			return "media", ext
		}
		return "file", ext
	case "pdf", "doc", "xls", "ppt":
		return "file", ext
	case "docx", "xlsx", "pptx":
		return "file", ext[:3]
	}
	return "file", "stream"
}

func key(name, value string) string {
	raw, err := json.Marshal(map[string]string{name: value})
	if err != nil { // Unreachable: only strings
		return ""
	}
	return string(raw)
}

// uploaded identifies an uploaded file.
type uploaded struct {
	Image string `json:"image_key"`
	File  string `json:"file_key"`
}

// uploading uploads a file. It exposes only the base name, never the path. The file is read again
// for each try.
func (p *Platform) uploading(ctx context.Context, path, field string, form map[string]string) (uploaded, error) {
	boundary := multipart.NewWriter(io.Discard).Boundary()
	r := api.Request{
		Method: http.MethodPost, Path: "/open-apis/im/v1/" + field + "s", Kind: "multipart/form-data; boundary=" + boundary,
		Body: func() (io.Reader, error) {
			f, err := os.Open(path)
			if err != nil {
				return nil, err
			}
			read, write := io.Pipe()
			go func() {
				defer f.Close() //nolint:errcheck // it was read
				write.CloseWithError(writeForm(write, boundary, field, filepath.Base(path), form, f))
			}()
			return read, nil
		},
	}
	out, err := api.Call[struct {
		Data uploaded `json:"data"`
	}](ctx, p.client, r)
	if err == nil && cmp.Or(out.Data.Image, out.Data.File) == "" {
		err = &api.CallError{Call: r.Path, Err: errors.New("the answer names no file")}
	}
	return out.Data, err
}

func writeForm(w io.Writer, boundary, field, name string, form map[string]string, f io.Reader) error {
	m := multipart.NewWriter(w)
	if err := m.SetBoundary(boundary); err != nil {
		return err
	}
	for k, v := range form {
		if err := m.WriteField(k, v); err != nil {
			return err
		}
	}
	part, err := m.CreateFormFile(field, name)
	if err != nil {
		return err
	}
	if _, err := io.Copy(part, f); err != nil {
		return err
	}
	return m.Close()
}

// harmless marks the outcome as known: people do not see a repeated upload.
func harmless(err error) error {
	if e, ok := errors.AsType[*platform.Error](err); ok {
		e.Unknown = false
	}
	return err
}
