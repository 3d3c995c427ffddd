package markup

import (
	"slices"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// Limits bound the parts of a text, in UTF-16 units. A part is no longer than Aim, unless the whole
// text or one block fits into Max.
type Limits struct{ Aim, Max int }

// minLimit reserves space for a fence with its language and quote marks.
const minLimit = 128

// Part is one message.
type Part struct {
	Text   string // plain
	Markup string // for the platform; empty if it would only repeat the text
	Rich   string // the richer form of [Renderer.SplitRich], if any
}

// Split renders a text as Telegram HTML, in parts within the limits. Limits under 128 count as 128.
// A text without visible content gives no parts.
func (r *Renderer) Split(src string, lim Limits) []Part {
	return r.split(src, lim, telegram, nil)
}

func (r *Renderer) split(src string, lim Limits, write, more func([]leaf) string) []Part {
	lim.Max = max(lim.Max, minLimit)
	lim.Aim = min(max(lim.Aim, minLimit), lim.Max)
	src = clean(src)
	if len(src) <= lim.Max && isPlain(src) {
		return onlyPart(src)
	}
	var out []Part
	for _, blocks := range pack(r.blocks(src), lim) {
		p := render(blocks, write)
		if !visible(p.Text) {
			continue
		}
		if more != nil {
			p.Rich = more(blocks)
		}
		out = append(out, p)
	}
	return out
}

// onlyPart is the fast path for a short text without markup.
func onlyPart(src string) []Part {
	if src = strings.TrimSpace(src); !visible(src) {
		return nil
	}
	return []Part{{Text: src}}
}

func render(blocks []leaf, write func([]leaf) string) Part {
	p := Part{Text: plain(blocks)}
	if slices.ContainsFunc(blocks, leaf.formatted) && slices.ContainsFunc(blocks, leaf.shown) {
		p.Markup = write(blocks)
	}
	return p
}

// packer fills parts with blocks.
type packer struct {
	lim   Limits
	parts [][]leaf
	cur   []leaf
	size  int
}

func pack(blocks []leaf, lim Limits) [][]leaf {
	if total(blocks) <= lim.Max {
		return [][]leaf{blocks}
	}
	p := &packer{lim: lim}
	for _, l := range blocks {
		p.add(l)
	}
	p.flush()
	return p.parts
}

func total(blocks []leaf) int {
	n := 0
	for i, l := range blocks {
		n += l.size
		if i > 0 {
			n += len(l.gap()) + l.lineCost()
		}
	}
	return n
}

// room returns how long a block may be to fit into the current part.
func (p *packer) room(l leaf) int {
	if len(p.cur) == 0 {
		return p.lim.Aim
	}
	return p.lim.Aim - p.size - len(l.gap()) - l.lineCost()
}

func (p *packer) put(l leaf) {
	if len(p.cur) > 0 {
		p.size += len(l.gap()) + l.lineCost()
	}
	p.cur = append(p.cur, l)
	p.size += l.size
}

func (p *packer) flush() {
	if len(p.cur) > 0 {
		p.parts = append(p.parts, p.cur)
	}
	p.cur, p.size = nil, 0
}

func (p *packer) add(l leaf) {
	switch {
	case l.size <= p.room(l):
		p.put(l)
	case l.size <= p.lim.Max:
		p.next(l)
	default:
		p.cut(l)
	}
}

// next begins a part with a block, and with the heading before it.
func (p *packer) next(l leaf) {
	var head *leaf
	if k := len(p.cur) - 1; k > 0 && p.cur[k].heading > 0 && total([]leaf{p.cur[k], l}) <= p.lim.Aim {
		h := p.cur[k]
		head, p.cur = &h, p.cur[:k]
	}
	p.flush()
	if head != nil {
		p.put(*head)
	}
	p.put(l)
}

// cut distributes a block that is too long for one part.
func (p *packer) cut(l leaf) {
	if p.room(l) < max(p.lim.Aim/4, 2*l.overhead()) {
		p.flush()
	}
	for l.size > p.lim.Aim {
		head, rest := l.cut(p.room(l))
		p.put(head)
		p.flush()
		l = rest
	}
	if l.shown() {
		p.put(l)
	}
}

// cut divides a block into two, the first with at most room units. The block must be longer than
// room, and room more than its overhead.
func (l leaf) cut(room int) (head, rest leaf) {
	room -= l.overhead()
	pos := l.position
	pos.blank, pos.lead = false, 0
	if l.kind == leafCode {
		i := cutAt(l.code, room, l.lineCost(), true)
		return newCode(l.lang, strings.TrimRight(l.code[:i], "\n"), l.position),
			newCode(l.lang, strings.TrimPrefix(l.code[i:], "\n"), pos)
	}
	text := joined(l.spans)
	a, z := cutSpans(l.spans, cutAt(text, room, l.lineCost(), false))
	z = trimStart(z)
	if len(z) > 0 {
		z[0].style &^= aside // a URL that lost its link must be visible
	}
	return newText(trimEnd(a), l.position), newText(z, pos)
}

// cutAt finds where to cut a text so that the first piece takes at most room: at a line break if
// possible, then at the end of a sentence, then at a space, then between characters. The result is
// never 0.
func cutAt(s string, room, perLine int, lines bool) int {
	end := reach(s, room, perLine)
	if end >= len(s) {
		return len(s)
	}
	if i := strings.LastIndexByte(s[:end+1], '\n'); i > 0 && (lines || i >= end/2) && visible(s[:i]) {
		return i
	}
	if !lines {
		for _, stop := range []string{". ", "! ", "? ", "。", "！", "？"} {
			if i := strings.LastIndex(s[:end], stop); i >= end/2 {
				return i + len(strings.TrimRight(stop, " "))
			}
		}
	}
	if i := strings.LastIndexByte(s[:end+1], ' '); i >= end/4 && i > 0 && visible(s[:i]) {
		return i
	}
	return boundary(s, end)
}

// reach returns the longest prefix, in bytes, that takes at most room.
func reach(s string, room, perLine int) int {
	n := 0
	for i, r := range s {
		n += utf16.RuneLen(r)
		if r == '\n' {
			n += perLine
		}
		if n > room {
			return i
		}
	}
	return len(s)
}

// boundary moves a cut back to the beginning of a character, but not far: an endless sequence of
// marks is cut anyway.
func boundary(s string, end int) int {
	const far = 64
	for i := end; i > 0 && end-i < far; {
		r, _ := utf8.DecodeRuneInString(s[i:])
		before, size := utf8.DecodeLastRuneInString(s[:i])
		if !joins(r) && before != zeroWidthJoiner {
			return i
		}
		i -= size
	}
	if end > 0 {
		return end
	}
	_, size := utf8.DecodeRuneInString(s)
	return size
}

// cutSpans cuts spans at a byte of their joined text. It does not modify spans.
func cutSpans(spans []span, at int) (head, rest []span) {
	for _, s := range spans {
		switch {
		case at <= 0:
			rest = append(rest, s)
		case at >= len(s.text):
			head = append(head, s)
		default:
			a, z := s, s
			a.text, z.text = s.text[:at], s.text[at:]
			head, rest = append(head, a), append(rest, z)
		}
		at -= len(s.text)
	}
	return head, rest
}

// trimStart removes white space at the start.
func trimStart(spans []span) []span {
	for len(spans) > 0 {
		spans[0].text = strings.TrimLeft(spans[0].text, " \n\t")
		if spans[0].text != "" {
			break
		}
		spans = spans[1:]
	}
	return spans
}
