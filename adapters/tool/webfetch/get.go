package webfetch

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/url"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html/charset"

	"github.com/shipmyagent/shipmyagent/adapters/internal/netguard"
	"github.com/shipmyagent/shipmyagent/adapters/tool"
)

// fetched is a fetched page.
type fetched struct {
	final       *url.URL
	status      int
	contentType string
	redirect    string // a redirect that was not followed, if any
	title, text string
	cut         string // which part was read, if the page is longer
}

func (f *Fetch) get(ctx context.Context, u *url.URL) (*fetched, error) {
	var redirect string
	client, done := f.client(func(req *http.Request, via []*http.Request) error {
		// By default, the client would send a Referer.
		req.Header.Del("Referer")
		next, err := parse(req.URL.String())
		switch {
		case err != nil:
			return fmt.Errorf("%w: it redirects to an address that is not fetched: %w", ErrRefused, err)
		case len(via) > maxRedirects:
			return fmt.Errorf("%w: more than %d redirects", ErrRefused, maxRedirects)
		case (!same(u, next) || u.Scheme == "https" && next.Scheme == "http") && !f.allows(next):
			redirect = next.String()
			return http.ErrUseLastResponse
		}
		req.URL = next
		return nil
	})
	defer done()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrRefused, err) // Unreachable: it was parsed before
	}
	req.Header.Set("User-Agent", agent)
	req.Header.Set("Accept", "text/html, application/json, text/*;q=0.9, */*;q=0.1")
	res, err := client.Do(req)
	if err != nil {
		return nil, explain(u, err)
	}
	defer func() { _ = res.Body.Close() }() // opened for reading only
	out := &fetched{final: res.Request.URL, status: res.StatusCode, redirect: redirect}
	if redirect != "" {
		return out, nil
	}
	if e := res.Header.Get("Content-Encoding"); e != "" && !strings.EqualFold(e, "identity") {
		return nil, fmt.Errorf("%s packs its pages in a way that was not asked for (%s)", u.Host, tool.Head(e, 40))
	}
	if err := out.read(res); err != nil {
		return nil, err
	}
	return out, nil
}

// read reads the response if it is text, up to the size limit.
func (p *fetched) read(res *http.Response) error {
	in, declared := bufio.NewReaderSize(res.Body, peeked), res.Header.Get("Content-Type")
	if declared == "" {
		begin, _ := in.Peek(peeked) // errors are reported by the next read
		declared = http.DetectContentType(begin)
	}
	kind, _, err := mime.ParseMediaType(declared)
	if err != nil && kind == "" {
		kind, _, _ = strings.Cut(declared, ";")
	}
	kind = strings.ToLower(strings.TrimSpace(kind))
	p.contentType = tool.Head(kind, 100)
	page := kind == "text/html" || kind == "application/xhtml+xml"
	most := maxBody
	if page {
		most = maxHTML
	}
	body, err := io.ReadAll(io.LimitReader(in, int64(most)+1))
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		return explain(p.final, err)
	}
	if !readable(kind) || bytes.IndexByte(body[:min(len(body), 8<<10)], 0) >= 0 && !wide(body, declared) {
		size := max(int64(len(body)), res.ContentLength)
		return fmt.Errorf("%s holds no text: it is %s, %d bytes; only pages, JSON and plain text are read", p.final.Host, p.contentType, size)
	}
	text, cut := decoded(body, declared, most)
	if cut {
		p.cut = fmt.Sprintf("the first %d MiB", most>>20)
	}
	if !page {
		p.text = visible(text)
		return nil
	}
	if p.title, p.text, cut = pageText(text, p.final); cut {
		p.cut = "a part" // Genuine pages have shorter texts and tags.
	}
	return nil
}

// wide reports whether a body is UTF-16, according to its first bytes or its content type.
func wide(body []byte, declared string) bool {
	return bytes.HasPrefix(body, []byte{0xff, 0xfe}) || bytes.HasPrefix(body, []byte{0xfe, 0xff}) || strings.Contains(strings.ToLower(declared), "utf-16")
}

// readable reports whether a media type is text.
func readable(kind string) bool {
	switch kind {
	case "application/json", "application/xml", "application/xhtml+xml", "application/javascript", "application/x-ndjson", "application/yaml", "application/toml":
		return true
	}
	return strings.HasPrefix(kind, "text/") || strings.HasSuffix(kind, "+json") || strings.HasSuffix(kind, "+xml")
}

// decoded converts a body to UTF-8 without a byte order mark, up to a length. cut reports that the text is longer,
// which it may become by the conversion.
func decoded(body []byte, declared string, most int) (text string, cut bool) {
	more := len(body) > most
	body = body[:min(len(body), most)]
	for n := range utf8.UTFMax { // The last rune may be incomplete.
		if whole := body[:len(body)-min(n, len(body))]; utf8.Valid(whole) && bytes.IndexByte(whole, 0) < 0 {
			return strings.TrimPrefix(string(whole), "\ufeff"), more
		}
		if !more {
			break
		}
	}
	if r, err := charset.NewReader(bytes.NewReader(body), declared); err == nil {
		if out, err := io.ReadAll(io.LimitReader(r, int64(most)+utf8.UTFMax)); err == nil {
			body = out
		}
	}
	text = strings.TrimPrefix(strings.ToValidUTF8(string(body), "\ufffd"), "\ufeff")
	if len(text) <= most {
		return text, more
	}
	for !utf8.RuneStart(text[most]) {
		most--
	}
	return text[:most], true
}

// explain describes an error. It names the host but no IP address, so that it does not reveal internal addresses.
func explain(u *url.URL, err error) error {
	var dns *net.DNSError
	var timeout net.Error
	switch {
	case errors.Is(err, netguard.ErrRefused), errors.Is(err, netguard.ErrPort):
		return fmt.Errorf("%w: %s: %w", ErrRefused, u.Host, inner(err))
	case errors.Is(err, ErrRefused), errors.Is(err, context.Canceled):
		return inner(err)
	case errors.As(err, &dns) && dns.IsNotFound:
		return fmt.Errorf("there is no host %s", u.Hostname())
	case errors.As(err, &dns):
		return fmt.Errorf("the name %s cannot be looked up now", u.Hostname())
	case errors.As(err, &timeout) && timeout.Timeout():
		return fmt.Errorf("%s did not answer in time", u.Host)
	default:
		return fmt.Errorf("fetch from %s: %w", u.Host, inner(err))
	}
}

// inner is an error without the URL that the client adds.
func inner(err error) error {
	if u, ok := errors.AsType[*url.Error](err); ok {
		err = u.Err
	}
	if op, ok := errors.AsType[*net.OpError](err); ok {
		err = op.Err
	}
	return err
}
