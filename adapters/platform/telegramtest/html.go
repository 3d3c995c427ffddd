package telegramtest

import (
	"fmt"
	"html"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// richNesting checks the place of a tag in a rich message, and begins its line.
func (p *htmlParser) richNesting(name string) error {
	within := ""
	if k := len(p.open); k > 0 {
		within = p.open[k-1]
	}
	outer, block := p.outer[name]
	language := within == "pre" && name == "code"
	switch {
	case len(p.open) >= 16:
		return fail("Too many levels at byte offset %d", p.at)
	case block && !slices.Contains(outer, within):
		return fail("Tag %q within %q at byte offset %d", name, within, p.at)
	case !block && !language && (slices.Contains(p.open, "code") || slices.Contains(p.open, "pre") || slices.Contains(p.open, name)):
		return fail("Tag %q within %q at byte offset %d", name, within, p.at)
	case !block && slices.Contains([]string{"ul", "ol", "table", "tr"}, within):
		return fail("Text within %q at byte offset %d", within, p.at)
	}
	if shown := p.out.String(); block && shown != "" && !strings.HasSuffix(shown, "\n") {
		p.out.WriteString(map[string]string{"td": " | ", "th": " | "}[name])
		if name != "td" && name != "th" {
			p.out.WriteByte('\n')
		}
	}
	return nil
}

// htmlTags are the tags that the Bot API knows, with the attributes it reads.
func htmlTags() map[string][]string {
	return map[string][]string{
		"b": nil, "strong": nil, "i": nil, "em": nil, "u": nil, "ins": nil, "s": nil, "strike": nil, "del": nil,
		"code": {"class"}, "pre": nil, "a": {"href"}, "blockquote": {"expandable"}, "tg-spoiler": nil,
		"span": {"class"}, "tg-emoji": {"emoji-id"},
	}
}

// htmlError is the server's error for a text that it cannot parse.
type htmlError string

func (e htmlError) Error() string { return string(e) }

func fail(format string, args ...any) error { return htmlError(fmt.Sprintf(format, args...)) }

// htmlParser reads text in the HTML parse mode of the Bot API.
type htmlParser struct {
	src  string
	at   int
	out  strings.Builder
	open []string
	tags map[string][]string
	made int // formatted entities
	// outer is set for rich messages. It names the allowed parents of each tag.
	outer map[string][]string
}

// maxEntities is the number of entities of a message that are formatted.
const maxEntities = 100

// ParseHTML reads a text as the Bot API reads parse_mode HTML and returns what
// people see. It is stricter than the server: attributes that the server does
// not know, nested quotes, markup within code and links that it drops are errors too,
// as there they silently lose their meaning.
func ParseHTML(src string) (string, error) {
	p := &htmlParser{src: src, tags: htmlTags()}
	return p.parse()
}

func (p *htmlParser) parse() (string, error) {
	for p.at < len(p.src) {
		if err := p.next(); err != nil {
			return "", err
		}
	}
	if k := len(p.open); k > 0 {
		return "", fail("Can't find end tag corresponding to start tag %q", p.open[k-1])
	}
	return p.out.String(), nil
}

func (p *htmlParser) next() error {
	rest := p.src[p.at:]
	switch rest[0] {
	case '&':
		p.reference(rest)
		return nil
	case '<':
		end := strings.IndexByte(rest, '>')
		if end < 0 {
			return fail("Unclosed start tag at byte offset %d", p.at)
		}
		defer func() { p.at += end + 1 }()
		if rest[1] == '/' {
			return p.endTag(strings.ToLower(strings.TrimSpace(rest[2:end])))
		}
		return p.startTag(rest[1:end])
	default:
		n := strings.IndexAny(rest, "&<")
		if n < 0 {
			n = len(rest)
		}
		p.out.WriteString(rest[:n])
		p.at += n
		return nil
	}
}

// reference reads a character reference. The server knows four named ones.
func (p *htmlParser) reference(rest string) {
	if end := strings.IndexByte(rest, ';'); end > 1 && end < 12 {
		switch name := rest[1:end]; {
		case name == "lt", name == "gt", name == "amp", name == "quot", name[0] == '#', p.outer != nil && name == "nbsp":
			p.out.WriteString(html.UnescapeString(rest[:end+1]))
			p.at += end + 1
			return
		}
	}
	p.out.WriteByte('&')
	p.at++
}

func (p *htmlParser) endTag(name string) error {
	k := len(p.open) - 1
	if k < 0 {
		return fail("Unexpected end tag at byte offset %d", p.at)
	}
	if name != "" && name != p.open[k] {
		return fail("Unmatched end tag at byte offset %d, expected %q, found %q", p.at, "</"+p.open[k]+">", "</"+name+">")
	}
	p.open = p.open[:k]
	return nil
}

func (p *htmlParser) startTag(tag string) error {
	name, attrs, _ := strings.Cut(tag, " ")
	name = strings.ToLower(name)
	if p.outer != nil {
		name = strings.TrimSuffix(name, "/")
	}
	known, ok := p.tags[name]
	if !ok {
		return fail("Unsupported start tag %q at byte offset %d", name, p.at)
	}
	if err := p.attributes(name, attrs, known); err != nil {
		return err
	}
	if err := p.nesting(name); err != nil {
		return err
	}
	if name != "code" || !slices.Contains(p.open, "pre") {
		p.made++
	}
	if name == "a" && p.outer == nil && p.made > maxEntities {
		return fail("Link at byte offset %d is beyond the stretches that are formatted and would lose its address", p.at)
	}
	if name == "br" || name == "hr" { // they have no end tag
		p.out.WriteByte('\n')
		return nil
	}
	p.open = append(p.open, name)
	return nil
}

func (p *htmlParser) attributes(name, attrs string, known []string) error {
	rest := regexp.MustCompile(`([a-z-]+)="[^"<]*"|expandable|bordered`).ReplaceAllStringFunc(attrs, func(a string) string {
		key, _, _ := strings.Cut(a, "=")
		if slices.Contains(known, key) {
			return ""
		}
		return a
	})
	if strings.TrimSpace(rest) != "" {
		return fail("Bad attributes %q of tag %q at byte offset %d", attrs, name, p.at)
	}
	if to, ok := strings.CutPrefix(strings.TrimSpace(attrs), `href="`); ok && !followed(html.UnescapeString(strings.TrimSuffix(to, `"`))) {
		return fail("Link %s at byte offset %d would lose its address", to, p.at)
	}
	return nil
}

// followed reports whether the server keeps a link: its host has a dot or is in brackets, and its host and port are
// valid.
func followed(address string) bool {
	m := regexp.MustCompile(`^(?i:https?)://(?:[^/?#@]*@)?(\[[0-9a-fA-F:.]+\]|(?:[\w.!$,~*'();&+=\-]|%[0-9a-fA-F]{2}|[^\x00-\x7f])+)(?::0*(\d{1,5}))?(?:[/?#]|$)`).FindStringSubmatch(address)
	if m == nil || m[1] == "." || m[1][0] != '[' && !strings.Contains(m[1], ".") {
		return false
	}
	port, err := strconv.Atoi(m[2])
	return m[2] == "" || err == nil && port > 0 && port < 1<<16
}

func (p *htmlParser) nesting(name string) error {
	if p.outer != nil {
		return p.richNesting(name)
	}
	for _, outer := range p.open {
		language := outer == "pre" && name == "code" && p.open[len(p.open)-1] == "pre"
		if !language && (outer == "code" || outer == "pre" || outer == name) {
			return fail("Tag %q within %q at byte offset %d", name, outer, p.at)
		}
	}
	return nil
}
