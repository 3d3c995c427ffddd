package grant

import (
	"strings"
)

// word is one word of a command after quotes are removed.
type word struct {
	text   string
	quoted bool  // some of it was quoted or escaped
	globs  []int // where in text the unquoted *, ? and [ are
}

// static says whether the word stands for itself alone.
func (w word) static() bool { return len(w.globs) == 0 }

// command is one simple command.
type command struct {
	text      string // without escaped newlines
	words     []word
	redirects []string // as 1>/dev/null is written without blanks
	comment   bool
	ended     bool // by ; or a newline
}

// scanner reads one simple command of static words. It knows no expansions: it
// gives up at the first byte that could be anything but a plain word, a quoted
// one, or a redirection that touches no file.
type scanner struct {
	in    string
	at    int
	joins []int // where escaped newlines are
	buf   []byte
	command
}

// scan reads a printable text; false: it is something else, or doubtful.
func scan(text string) (command, bool) {
	s := scanner{in: text}
	s.words = make([]word, 0, strings.Count(text, " ")+1)
	for {
		s.blanks()
		switch c := s.peek(); c {
		case 0:
			s.text = s.joined()
			return s.command, len(s.words) > 0
		case '#':
			s.skipComment()
		case ';', '\n':
			if len(s.words) == 0 || (c == ';' && s.ended) {
				return command{}, false
			}
			s.at++
			s.ended = true
		default:
			if s.ended || !s.element() {
				return command{}, false
			}
		}
	}
}

// peek is the next byte that counts: escaped newlines do not. 0 is the end.
func (s *scanner) peek() byte {
	for strings.HasPrefix(s.in[s.at:], "\\\n") {
		s.joins = append(s.joins, s.at)
		s.at += 2
	}
	return s.raw()
}

// joined is the text without its escaped newlines.
func (s *scanner) joined() string {
	if len(s.joins) == 0 {
		return s.in
	}
	var b strings.Builder
	from := 0
	for _, at := range s.joins {
		b.WriteString(s.in[from:at])
		from = at + 2
	}
	b.WriteString(s.in[from:])
	return b.String()
}

func (s *scanner) blanks() {
	for c := s.peek(); c == ' ' || c == '\t'; c = s.peek() {
		s.at++
	}
}

// skipComment goes to the end of the line: a backslash does not continue it.
func (s *scanner) skipComment() {
	s.comment = true
	if n := strings.IndexByte(s.in[s.at:], '\n'); n >= 0 {
		s.at += n
		return
	}
	s.at = len(s.in)
}

// element reads a word or a redirection.
func (s *scanner) element() bool {
	w, ok := s.word()
	if !ok {
		return false
	}
	c := s.peek()
	redirects := (c == '<' || c == '>') && !w.quoted && digits(w.text)
	switch {
	case redirects:
		return s.redirect(w.text)
	case w.text == "" && !w.quoted:
		return false // an operator, or nothing at all
	case len(s.words) == 0 && !w.quoted && (reserved(w.text) || assigns(w.text)):
		return false
	}
	s.words = append(s.words, w)
	return true
}

// word reads up to the next blank or operator.
func (s *scanner) word() (word, bool) {
	var w word
	start, text := s.at, s.buf[:0]
	for {
		c := s.peek()
		switch c {
		case 0, ' ', '\t', '\n', ';', '&', '|', '<', '>', '(', ')':
			s.buf = text
			if w.text = s.in[start:s.at]; w.text != string(text) {
				w.text = string(text)
			}
			return w, true
		case '{', '}', '`':
			return w, false
		case '~':
			if expandsTilde(text, w.quoted) {
				return w, false
			}
		case '$':
			if !s.plainDollar() {
				return w, false
			}
		case '*', '?', '[':
			w.globs = append(w.globs, len(text))
		case '\\':
			s.at++
			w.quoted = true
			if c = s.raw(); c == 0 {
				return w, false
			}
		case '\'', '"':
			var ok bool
			if text, ok = s.quote(text, c); !ok {
				return w, false
			}
			w.quoted = true
			continue
		}
		text = append(text, c)
		s.at++
	}
}

// raw is the next byte, whatever it is. 0 is the end.
func (s *scanner) raw() byte {
	if s.at == len(s.in) {
		return 0
	}
	return s.in[s.at]
}

// quote appends what stands between two quotes; false: they do not close, or hold
// an expansion.
func (s *scanner) quote(text []byte, mark byte) ([]byte, bool) {
	s.at++
	if mark == '\'' {
		n := strings.IndexByte(s.in[s.at:], '\'')
		if n < 0 {
			return text, false
		}
		text = append(text, s.in[s.at:s.at+n]...)
		s.at += n + 1
		return text, true
	}
	for {
		c := s.peek()
		switch c {
		case 0, '`':
			return text, false
		case '"':
			s.at++
			return text, true
		case '$':
			if !s.plainDollar() && !strings.HasPrefix(s.in[s.at:], `$"`) {
				return text, false
			}
		case '\\':
			s.at++
			if next := s.raw(); next != 0 && strings.IndexByte("$`\"\\", next) >= 0 {
				c = next
				break
			}
			text = append(text, '\\')
			continue
		}
		text = append(text, c)
		s.at++
	}
}

// plainDollar says whether the dollar sign here means itself: nothing follows it,
// or a byte that can begin no expansion in any shell.
func (s *scanner) plainDollar() bool {
	rest := s.in[s.at+1:]
	return rest == "" || strings.IndexByte(" \t\n|&;<>)/.,%]", rest[0]) >= 0
}

// redirect reads a redirection after its number.
func (s *scanner) redirect(number string) bool {
	op := "<"
	if s.peek() == '>' {
		op = ">"
	}
	s.at++
	if s.peek() == '&' {
		op += "&"
		s.at++
	}
	s.blanks()
	target, ok := s.word()
	if !ok || target.quoted || !target.static() {
		return false
	}
	r := number + op + target.text
	s.redirects = append(s.redirects, r)
	return harmless(r)
}

// harmless says whether a redirection neither reads nor writes a file.
func harmless(redirect string) bool {
	switch redirect {
	case ">/dev/null", "1>/dev/null", "2>/dev/null", "</dev/null", "2>&1", "1>&2", ">&2":
		return true
	default:
		return false
	}
}

// reserved says whether an unquoted first word is grammar and no program, in any
// of the usual shells.
func reserved(text string) bool {
	switch text {
	case "!", "[[", "]]", "if", "then", "elif", "else", "fi", "for", "while", "until", "do", "done",
		"case", "esac", "select", "function", "time", "coproc":
		return true
	default:
		return false
	}
}

// expandsTilde says whether an unquoted ~ after the given text may be replaced by
// a home directory: at the start of a word, and after = or : in what looks like an
// assignment, wherever it stands.
func expandsTilde(text []byte, quoted bool) bool {
	n := len(text)
	if n == 0 {
		return !quoted
	}
	return (text[n-1] == '=' || text[n-1] == ':') && assigns(string(text))
}

// assigns says whether a word looks like name=value, name+=value or name[i]=value.
func assigns(text string) bool {
	name, _, ok := strings.Cut(text, "=")
	name = strings.TrimSuffix(name, "+")
	if i := strings.IndexByte(name, '['); i > 0 && strings.HasSuffix(name, "]") {
		name = name[:i]
	}
	if !ok || name == "" || digits(name[:1]) {
		return false
	}
	for i := range len(name) {
		if c := name[i]; c != '_' && !digits(name[i:i+1]) && (c|0x20 < 'a' || c|0x20 > 'z') {
			return false
		}
	}
	return true
}

// digits says whether a text has nothing but ASCII digits; the empty one does.
func digits(text string) bool {
	for i := range len(text) {
		if text[i] < '0' || text[i] > '9' {
			return false
		}
	}
	return true
}
