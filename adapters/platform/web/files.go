package web

import (
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"io"
	"io/fs"
	"mime"
	"net/http"
	"net/url"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/adapters/platform/web/internal/request"
	"github.com/shipmyagent/shipmyagent/adapters/platform/web/internal/respond"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
)

const (
	// maxAttached is the maximum number of files of one message, and maxFilename the maximum length
	// of a file name, in characters.
	maxAttached = 10
	maxFilename = 100
	// fileTime is the time limit for transferring a file, in either direction.
	fileTime = 5 * time.Minute
)

// Files stores the files that people upload to chats. It is safe for concurrent use.
type Files interface {
	// Keep stores a file of at most limit bytes under a name of its own, with the extension of the
	// given name. If the file is larger, the error is [platform.ErrTooLarge].
	Keep(ctx context.Context, key messages.ChatKey, name string, src io.Reader) (stored string, err error)
	// Describe returns the metadata for the part of a stored file. The error is fs.ErrNotExist if
	// the chat has no such file.
	Describe(ctx context.Context, key messages.ChatKey, stored, name string) (metadata []byte, err error)
	// Open opens a file that people of the chat may download. The error is fs.ErrNotExist if the
	// chat has no such file.
	Open(key messages.ChatKey, stored string) (*os.File, error)
	// Limit is the maximum size of a file in bytes; 0 means that files are not accepted.
	Limit() int64
}

// upload serves POST /api/chat/{id}/files?name=…: the body is the file. The response is the part by
// which a message then refers to it.
func (p *Platform) upload(w http.ResponseWriter, r *http.Request, key messages.ChatKey) *respond.Problem {
	if refusal := p.takesFiles(); refusal != nil {
		return refusal
	}
	if r.ContentLength > p.opts.Files.Limit() {
		return p.fileTooLarge()
	}
	rc := http.NewResponseController(w)
	_ = rc.SetReadDeadline(time.Now().Add(fileTime)) // fails only with a test's recorder
	_ = rc.SetWriteDeadline(time.Now().Add(fileTime + p.opts.WriteTimeout))
	name := filename(r.URL.Query().Get("name"))
	stored, err := p.opts.Files.Keep(r.Context(), key, name, r.Body)
	_ = rc.SetReadDeadline(time.Time{})
	if err != nil {
		return p.fileProblem(r.Context(), key, err)
	}
	kind, _, _ := strings.Cut(r.Header.Get("Content-Type"), ";")
	respond.JSON(w, http.StatusOK, struct {
		Type      string `json:"type"`
		MediaType string `json:"mediaType"`
		Filename  string `json:"filename,omitempty"`
		URL       string `json:"url"`
	}{"file", mediaType(kind), name, request.FileURL(r.PathValue("id"), stored)})
	return nil
}

// file serves GET /api/chat/{id}/files/{file}: a file of the chat. A file that the agent sent is in
// a folder of its own and keeps its own name. Browsers display pictures and only save anything
// else.
func (p *Platform) file(w http.ResponseWriter, r *http.Request, key messages.ChatKey) *respond.Problem {
	if p.opts.Files == nil {
		return respond.NotFound()
	}
	name, how := r.PathValue("file"), "attachment"
	stored := name
	if folder := r.PathValue("folder"); folder != "" {
		stored, how = folder+"/"+name, mime.FormatMediaType(how, map[string]string{"filename": name})
	}
	kind := "application/octet-stream"
	if shown := map[string]string{".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".png": "image/png", ".gif": "image/gif", ".webp": "image/webp"}[strings.ToLower(path.Ext(name))]; shown != "" {
		kind, how = shown, "inline"
	}
	header := map[string]string{"Content-Type": kind, "Content-Disposition": how, "Content-Security-Policy": "default-src 'none'; sandbox"}
	return p.serveFile(w, r, key, header, func() (*os.File, error) { return p.opts.Files.Open(key, stored) })
}

// voice serves GET /api/chat/{id}/voice/{file}: a voice message that the model spoke in the chat.
// It serves no other file of the chat.
func (p *Platform) voice(w http.ResponseWriter, r *http.Request, key messages.ChatKey) *respond.Problem {
	if p.opts.Voice == nil {
		return respond.NotFound()
	}
	name := r.PathValue("file")
	kind := map[string]string{".opus": "audio/ogg", ".mp3": "audio/mpeg", ".wav": "audio/wav"}[path.Ext(name)]
	header := map[string]string{"Content-Type": cmp.Or(kind, "application/octet-stream"), "Content-Disposition": "inline"}
	return p.serveFile(w, r, key, header, func() (*os.File, error) { return p.opts.Voice(key, name) })
}

// serveFile serves a file of a chat with a header.
func (p *Platform) serveFile(w http.ResponseWriter, r *http.Request, key messages.ChatKey, header map[string]string, open func() (*os.File, error)) *respond.Problem {
	f, err := open()
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return respond.NotFound()
	case err != nil:
		return p.problem(r.Context(), key, "file", err)
	}
	defer f.Close() //nolint:errcheck // only read from
	for name, value := range header {
		w.Header().Set(name, value)
	}
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(fileTime)) // as above
	http.ServeContent(w, r, "", time.Time{}, f)
	return nil
}

func (p *Platform) takesFiles() *respond.Problem {
	if p.opts.Files == nil || p.opts.Files.Limit() == 0 {
		return respond.Refused(http.StatusForbidden, "no_files", "Files are not taken here.")
	}
	return nil
}

func (p *Platform) fileTooLarge() *respond.Problem {
	most := p.opts.Files.Limit() >> 20
	refusal := respond.Refused(http.StatusRequestEntityTooLarge, "file_too_large",
		"The file is too large: at most "+strconv.FormatInt(most, 10)+" MB are taken.")
	refusal.Limit = most
	return refusal
}

func (p *Platform) fileProblem(ctx context.Context, key messages.ChatKey, err error) *respond.Problem {
	var body *http.MaxBytesError
	switch {
	case errors.Is(err, platform.ErrTooLarge), errors.As(err, &body):
		return p.fileTooLarge()
	case errors.Is(err, fs.ErrNotExist):
		return respond.BadRequest("unknown_file", "This chat has no such file. Upload it again.")
	case errors.Is(err, os.ErrDeadlineExceeded):
		return respond.Refused(http.StatusRequestTimeout, "too_slow", "The file did not arrive in time.")
	}
	return p.problem(ctx, key, "keep a file", err)
}

// keepFiles stores the files that a message contains, and finds those that were uploaded before.
// The returned parts refer to the stored files and contain no bytes.
func (p *Platform) keepFiles(ctx context.Context, key messages.ChatKey, chat string, parts []uimessage.Part) ([]uimessage.Part, *respond.Problem) {
	out, files := make([]uimessage.Part, 0, len(parts)), 0
	for _, part := range parts {
		f, ok := part.(uimessage.File)
		if !ok {
			out = append(out, part)
			continue
		}
		if refusal := p.takesFiles(); refusal != nil {
			return nil, refusal
		}
		if files++; files > maxAttached {
			refusal := respond.BadRequest("too_many_files", "A message holds at most "+strconv.Itoa(maxAttached)+" files.")
			refusal.Limit = maxAttached
			return nil, refusal
		}
		kept, refusal := p.keepFile(ctx, key, chat, f)
		if refusal != nil {
			return nil, refusal
		}
		out = append(out, kept)
	}
	return out, nil
}

func (p *Platform) keepFile(ctx context.Context, key messages.ChatKey, chat string, f uimessage.File) (uimessage.File, *respond.Problem) {
	name := filename(f.Filename.Value)
	stored, uploaded := request.StoredName(chat, f.URL)
	if !uploaded {
		data, refusal := p.dataOf(f.URL)
		if refusal != nil {
			return f, refusal
		}
		var err error
		if stored, err = p.opts.Files.Keep(ctx, key, nameFor(name, f.MediaType), strings.NewReader(data)); err != nil {
			return f, p.fileProblem(ctx, key, err)
		}
	}
	metadata, err := p.opts.Files.Describe(ctx, key, stored, name)
	if err != nil {
		return f, p.fileProblem(ctx, key, err)
	}
	out := uimessage.File{MediaType: mediaType(f.MediaType), URL: request.StoredScheme + stored, ProviderMetadata: metadata}
	if name != "" {
		out.Filename = uimessage.Some(name)
	}
	return out, nil
}

// dataOf decodes a data URL.
func (p *Platform) dataOf(link string) (string, *respond.Problem) {
	head, body, ok := strings.Cut(link, ",")
	bad := respond.BadRequest("bad_data_url", "A file of a message cannot be read: it is no data URL.")
	if !ok || !strings.HasPrefix(head, "data:") {
		return "", bad
	}
	if !strings.HasSuffix(head, ";base64") {
		text, err := url.PathUnescape(body)
		if err != nil {
			return "", bad
		}
		return text, nil
	}
	if int64(len(body)) > p.opts.Files.Limit()*4/3+4 {
		return "", p.fileTooLarge()
	}
	data, err := base64.StdEncoding.DecodeString(body)
	if err != nil {
		data, err = base64.RawStdEncoding.DecodeString(body)
	}
	if err != nil {
		return "", bad
	}
	return string(data), nil
}

// fetchable replaces the URLs of files in messages by those from which a client downloads them.
func fetchable(r *http.Request, chat string, list []uimessage.Message) []uimessage.Message {
	to := readerOfChat(r, chat)
	for i, m := range list {
		parts, changed := slices.Clone(m.Parts), false
		for j, part := range parts {
			f, ok := part.(uimessage.File)
			stored, own := request.StoredName(chat, f.URL)
			if ok && own {
				f.URL, changed = to.base+request.FileURL(chat, stored), true
				parts[j] = f
			}
		}
		if changed {
			list[i].Parts = parts
		}
	}
	return to.messagesWithSent(list)
}

// filename returns the last element of a file name given by a sender.
func filename(s string) string {
	if i := strings.LastIndexAny(s, `/\`); i >= 0 {
		s = s[i+1:]
	}
	s = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, ""))
	if r := []rune(s); len(r) > maxFilename {
		s = string(r[len(r)-maxFilename:]) // keep the extension
	}
	return strings.TrimSpace(s)
}

// nameFor adds an extension to a name, for a pasted picture that has none.
func nameFor(name, kind string) string {
	if path.Ext(name) != "" {
		return name
	}
	return name + map[string]string{"image/png": ".png", "image/jpeg": ".jpg", "image/gif": ".gif", "image/webp": ".webp", messages.MimePDF: ".pdf", "text/plain": ".txt"}[kind]
}

// mediaType returns a file's type as given by a client, if that is a valid media type.
func mediaType(s string) string {
	s = strings.ToLower(strings.TrimSpace(s))
	if len(s) > 100 || strings.Count(s, "/") != 1 || strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r > '~' || strings.ContainsRune(`"<>;,`, r) }) {
		return "application/octet-stream"
	}
	return s
}

// maxBody bounds the body of a request. Where files are accepted, a body may be as large as a file,
// and a message may contain a few as data URLs.
func (p *Platform) maxBody(r *http.Request) int64 {
	if p.opts.Files == nil || r.Method != http.MethodPost {
		return p.opts.MaxBody
	}
	limit := p.opts.Files.Limit()
	switch {
	case strings.HasPrefix(r.URL.Path, "/api/chat/") && strings.HasSuffix(r.URL.Path, "/files"):
		return limit + 1
	case r.URL.Path == "/api/chat":
		return p.opts.MaxBody + limit*3/2
	}
	return p.opts.MaxBody
}
