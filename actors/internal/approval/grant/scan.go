package grant

import (
	"strings"
)

// word is one word of a command without its quotes.
type word struct {
	text   string
	globs  []uint16 // positions of the unquoted *, ? and [ in text
	quoted bool     // some of it was quoted or escaped
	cut    bool     // it is not in the text of the command
}

// static reports whether the word has no patterns.
func (w word) static() bool { return len(w.globs) == 0 }

// command is one simple command.
type command struct {
	// text is for the full parser: without escaped newlines, and for a long command without the words
	// that every grammar reads the same.
	text      string
	words     []place
	out       string   // all words without quotes, concatenated
	globs     []uint16 // of all words
	redirects []string // without blanks, such as 1>/dev/null
	comment   bool
	ended     bool // by ; or a newline
}

// place is the position of a word. A command may have thousands of them: they are small and contain
// no pointers.
type place struct {
	from, to         uint16 // in the words
	globs, globsEnd  uint16 // in all globs
	quoted, odd, cut bool   // odd: it has more than plain bytes, such as quotes
}

// word returns the word with a number, from 0.
func (c *command) word(i int) word {
	w := &c.words[i]
	return word{text: c.out[w.from:w.to], globs: c.globs[w.globs:w.globsEnd], quoted: w.quoted, cut: w.cut}
}

const (
	// maxWhole is how many words the full parser always sees.
	maxWhole = 64
	// maxOdd is how many words, quotes and redirections of a command may need the full parser.
	// Legitimate commands have fewer, and the parser is slow.
	maxOdd = 256
)

// span is a part of the input that the full parser does not get.
type span struct{ from, to uint16 }

// scanner reads one simple command of static words. It knows no expansions: it gives up at the
// first byte that could be anything but a plain word, a quoted one, or a redirection that touches
// no file. It makes one pass over the input, and its memory does not grow with the number of words.
type scanner struct {
	in    string
	at    int
	cuts  []span // escaped newlines and cut words, in order
	plain strings.Builder
	odd   int // what the full parser has to look at
	command
}

// scan reads a printable text; it returns false for anything else than a simple command, or in
// doubt.
func scan(text string) (command, bool) {
	s := scanner{in: text}
	s.plain.Grow(len(text)) // an upper bound, so that the buffer never moves
	s.words = make([]place, 0, starts(text))
	for {
		s.blanks()
		switch c := s.peek(); c {
		case 0:
			s.text, s.out = s.uncut(), s.plain.String()
			return s.command, len(s.words) > 0 && s.odd <= maxOdd
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

// starts is the approximate number of words in a text.
func starts(text string) int {
	n, blank := 1, true
	for i := range len(text) {
		if is := text[i] == ' ' || text[i] == '\t'; is != blank {
			blank = is
			n += bit(!blank)
		}
	}
	return n
}

func bit(b bool) int {
	if b {
		return 1
	}
	return 0
}

// peek is the next byte, skipping escaped newlines. 0 is the end.
func (s *scanner) peek() byte {
	if s.at < len(s.in) && s.in[s.at] != '\\' {
		return s.in[s.at] // the usual case
	}
	return s.joined()
}

// joined is the next byte after escaped newlines.
func (s *scanner) joined() byte {
	for s.at+1 < len(s.in) && s.in[s.at] == '\\' && s.in[s.at+1] == '\n' {
		s.skip(s.at, s.at+2)
		s.at += 2
	}
	return s.raw()
}

// skip removes a part of the input from the text for the full parser.
func (s *scanner) skip(from, to int) {
	if n := len(s.cuts); n > 0 && int(s.cuts[n-1].to) == from {
		s.cuts[n-1].to = uint16(to) //nolint:gosec // texts are shorter
		return
	}
	s.cuts = append(s.cuts, span{uint16(from), uint16(to)}) //nolint:gosec // as above
}

// uncut is the text without the removed parts.
func (s *scanner) uncut() string {
	if len(s.cuts) == 0 {
		return s.in
	}
	var b strings.Builder
	b.Grow(len(s.in))
	from := 0
	for _, c := range s.cuts {
		b.WriteString(s.in[from:c.from])
		from = int(c.to)
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
	start, cuts, odd, n := s.at, len(s.cuts), s.odd, len(s.words)
	s.words = append(s.words, place{})
	w := &s.words[n] // filled in place: copies of small fields cost more than reading
	if !s.next(w) {
		return false
	}
	c, text := s.peek(), s.since(w.from)
	switch {
	case (c == '<' || c == '>') && !w.quoted && digits(text):
		s.words = s.words[:n]
		s.odd++
		return s.redirect(text)
	case text == "" && !w.quoted:
		return false // an operator, or the end
	case n == 0 && !w.quoted && (reserved(text) || assigns(text)):
		return false
	case n < maxWhole:
	case len(s.cuts) == cuts && s.evident(start, w.odd):
		w.cut, s.odd = true, odd
		s.skip(start, min(s.at+1, len(s.in))) // with the blank after it
	default:
		s.odd++
	}
	return true
}

// since is the text that was read from a position on.
func (s *scanner) since(from uint16) string { return s.plain.String()[from:] }

// evident reports whether the word that ends here is the same word for every shell in any context:
// plain bytes between blanks, or one pair of quotes around such bytes.
func (s *scanner) evident(start int, odd bool) bool {
	switch {
	case start == 0 || !isBlank(s.in[start-1]) || s.at < len(s.in) && !isBlank(s.in[s.at]):
		return false
	case !odd:
		return true
	}
	raw := s.in[start:s.at]
	last := len(raw) - 1
	if last < 1 || raw[0] != raw[last] || raw[0] != '\'' && raw[0] != '"' {
		return false
	}
	for i := 1; i < last; i++ {
		if !tame(raw[i]) && raw[i] != ' ' {
			return false
		}
	}
	return true
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' }

// tame reports whether a byte has no special meaning anywhere in a word.
func tame(c byte) bool {
	const (
		digits  = 1<<('9'+1) - 1<<'0'
		low     = digits | 1<<'-' | 1<<'.' | 1<<'/' | 1<<',' | 1<<':' | 1<<'%' | 1<<'+' | 1<<'='
		letters = 1<<('Z'+1-'@') - 1<<('A'-'@')
		high    = letters | letters<<('a'-'A') | 1 | 1<<('_'-'@')
	)
	switch {
	case c >= 0x80:
		return true
	case c < '@':
		return uint64(low)>>c&1 != 0
	default:
		return uint64(high)>>(c-'@')&1 != 0
	}
}

// next reads a word, up to the next blank or operator.
func (s *scanner) next(w *place) bool {
	w.from, w.globs = s.here(), uint16(len(s.globs)) //nolint:gosec // texts are shorter
	tildes := tildes{}
	for {
		s.tame()
		c := s.peek()
		switch c {
		case 0, ' ', '\t', '\n', ';', '&', '|', '<', '>', '(', ')':
			w.to, w.globsEnd = s.here(), uint16(len(s.globs)) //nolint:gosec // as above
			return true
		case '{', '}', '`':
			return false
		case '~':
			if tildes.expands(s.since(w.from), w.quoted) {
				return false
			}
			w.odd = true
		case '$':
			if !s.plainDollar() {
				return false
			}
			w.odd = true
		case '*', '?', '[':
			s.globs = append(s.globs, s.here()-w.from)
		case '\\':
			s.at++
			w.quoted, w.odd = true, true
			if c = s.raw(); c == 0 {
				return false
			}
		case '\'', '"':
			if !s.quote(c) {
				return false
			}
			w.quoted, w.odd = true, true
			continue
		default:
			w.odd = true
		}
		s.plain.WriteByte(c)
		s.at++
	}
}

// here is the position of the next byte of a word.
func (s *scanner) here() uint16 {
	return uint16(s.plain.Len()) //nolint:gosec // texts are shorter
}

// tame consumes the next bytes without special meaning.
func (s *scanner) tame() {
	from := s.at
	for s.at < len(s.in) && tame(s.in[s.at]) {
		s.at++
	}
	s.plain.WriteString(s.in[from:s.at])
}

// raw is the next byte, unprocessed. 0 is the end.
func (s *scanner) raw() byte {
	if s.at == len(s.in) {
		return 0
	}
	return s.in[s.at]
}

// quote reads the text between two quotes; it returns false if they do not close, or contain an
// expansion.
func (s *scanner) quote(mark byte) bool {
	s.odd++
	s.at++
	if mark == '\'' {
		n := strings.IndexByte(s.in[s.at:], '\'')
		if n < 0 {
			return false
		}
		s.plain.WriteString(s.in[s.at : s.at+n])
		s.at += n + 1
		return true
	}
	for {
		s.tame()
		c := s.peek()
		switch c {
		case 0, '`':
			return false
		case '"':
			s.at++
			return true
		case '$':
			if !s.plainDollar() && !strings.HasPrefix(s.in[s.at:], `$"`) {
				return false
			}
		case '\\':
			s.at++
			if next := s.raw(); next != 0 && strings.IndexByte("$`\"\\", next) >= 0 {
				c = next
				break
			}
			s.plain.WriteByte('\\')
			continue
		}
		s.plain.WriteByte(c)
		s.at++
	}
}

// plainDollar reports whether the dollar sign here is literal: it is followed by nothing, or by a
// byte that cannot start an expansion in any shell. The full parser is slow at them.
func (s *scanner) plainDollar() bool {
	s.odd++
	rest := s.in[s.at+1:]
	return rest == "" || strings.IndexByte(" \t\n|&;<>)/.,%]", rest[0]) >= 0
}

// redirect reads a redirection that follows its number.
func (s *scanner) redirect(number string) bool {
	op := "<"
	if s.peek() == '>' {
		op = ">"
	}
	s.at++
	switch {
	case s.peek() != '&':
	case op == "<":
		return false // nothing that starts so is harmless
	default:
		op = ">&"
		s.at++
	}
	s.blanks()
	var target place
	if !s.next(&target) || target.quoted || target.globs != target.globsEnd {
		return false
	}
	r := harmless(number, op, s.since(target.from))
	s.redirects = append(s.redirects, r)
	return r != ""
}

// harmless returns a redirection that neither reads nor writes a file, as it is written, or "" for
// any other.
func harmless(number, op, target string) string {
	for _, r := range [...]struct{ number, op, target, text string }{
		{"", ">", "/dev/null", ">/dev/null"},
		{"1", ">", "/dev/null", "1>/dev/null"},
		{"2", ">", "/dev/null", "2>/dev/null"},
		{"", "<", "/dev/null", "</dev/null"},
		{"2", ">&", "1", "2>&1"},
		{"1", ">&", "2", "1>&2"},
		{"", ">&", "2", ">&2"},
	} {
		if r.number == number && r.op == op && r.target == target {
			return r.text
		}
	}
	return ""
}

// reserved reports whether an unquoted first word is grammar instead of a program, in any of the
// usual shells.
func reserved(text string) bool {
	switch text {
	case "!", "[[", "]]", "if", "then", "elif", "else", "fi", "for", "while", "until", "do", "done",
		"case", "esac", "select", "function", "time", "coproc":
		return true
	default:
		return false
	}
}

// tildes records whether a word looks like an assignment. It searches for the first = once, however
// many tildes there are.
type tildes struct {
	seen      int // of the word, without a =
	assigning bool
}

// expands reports whether an unquoted ~ after the given text may be replaced with a home directory:
// at the start of a word, and after = or : in anything that looks like an assignment, at any
// position.
func (t *tildes) expands(text string, quoted bool) bool {
	n := len(text)
	if n == 0 {
		return !quoted
	}
	if t.seen >= 0 {
		if i := strings.IndexByte(text[t.seen:], '='); i >= 0 {
			t.seen, t.assigning = -1, assigns(text)
		} else {
			t.seen = n
		}
	}
	return (text[n-1] == '=' || text[n-1] == ':') && t.assigning
}

// assigns reports whether a word looks like name=value, name+=value or name[i]=value.
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

// digits reports whether a text has only ASCII digits; the empty text qualifies.
func digits(text string) bool {
	for i := range len(text) {
		if text[i] < '0' || text[i] > '9' {
			return false
		}
	}
	return true
}
