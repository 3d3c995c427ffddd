package webfetch

import (
	"bytes"
	"slices"
	"strings"

	"golang.org/x/net/html/atom"
)

// implied closes the elements that a new element ends implicitly. It reports whether the new element may start here.
func (t *tree) implied(tag atom.Atom) bool {
	if ofTable(tag) && tag != atom.Table || inTable(tag) {
		return t.inRow(tag)
	}
	if block(tag) {
		if i := t.find(func(tag atom.Atom) bool { return tag == atom.Button || isWall(tag) }, atom.P); i >= 0 {
			t.close(i)
		}
	}
	last := len(t.open) - 1
	switch {
	case level(tag) > 0 && last >= 0 && level(t.open[last].tag) > 0,
		tag == atom.Option && last >= 0 && t.open[last].tag == atom.Option,
		tag == atom.Table && last >= 0 && ofTable(t.open[last].tag):
		if tag == atom.Table {
			last = t.find(func(atom.Atom) bool { return false }, atom.Table)
		}
		t.close(last)
	case tag == atom.Li:
		t.ends(atom.Li)
	case tag == atom.Dd, tag == atom.Dt:
		t.ends(atom.Dd, atom.Dt)
	case tag == atom.A, tag == atom.Button:
		if i := t.opens(tag); i >= 0 {
			t.close(i)
		}
	default:
	}
	return true
}

// ends closes an open item, unless another element has started inside of it.
func (t *tree) ends(tags ...atom.Atom) {
	inside := func(tag atom.Atom) bool {
		return special(tag) && tag != atom.Address && tag != atom.Div && tag != atom.P
	}
	if i := t.find(inside, tags...); i >= 0 {
		t.close(i)
	}
}

// inRow prepares the start of a part of a table. It returns false outside of tables.
func (t *tree) inRow(tag atom.Atom) bool {
	table := t.find(func(tag atom.Atom) bool { return tag == atom.Template }, atom.Table)
	if table < 0 {
		return false
	}
	to := table
	if tag == atom.Tr || tag == atom.Td || tag == atom.Th {
		for i, o := range t.open[table:] {
			if o.tag == atom.Tbody || o.tag == atom.Thead || o.tag == atom.Tfoot || o.tag == atom.Tr && tag != atom.Tr {
				to = table + i
			}
		}
	}
	t.close(to + 1)
	if (tag == atom.Td || tag == atom.Th) && t.open[to].tag != atom.Tr {
		row := opened{tag: atom.Tr}
		if t.skips == 0 {
			row.node = t.put(atom.Tr, "")
		}
		t.push(row)
	}
	return true
}

// ofTable reports whether an element is a part of a table that has no text of its own.
func ofTable(tag atom.Atom) bool {
	switch tag {
	case atom.Table, atom.Tbody, atom.Thead, atom.Tfoot, atom.Tr:
		return true
	default:
	}
	return false
}

// inTable reports whether an element is a part inside of a table.
func inTable(tag atom.Atom) bool {
	switch tag {
	case atom.Tbody, atom.Thead, atom.Tfoot, atom.Tr, atom.Td, atom.Th, atom.Caption:
		return true
	default:
	}
	return false
}

// isWall reports whether tags inside of an element cannot end elements outside of it.
func isWall(tag atom.Atom) bool {
	switch tag {
	case atom.Applet, atom.Caption, atom.Marquee, atom.Object, atom.Select, atom.Table, atom.Td, atom.Template, atom.Th:
		return true
	default:
	}
	return false
}

// level is the level of a heading, or 0 for other elements.
func level(tag atom.Atom) int {
	switch tag {
	case atom.H1:
		return 1
	case atom.H2:
		return 2
	case atom.H3:
		return 3
	case atom.H4:
		return 4
	case atom.H5:
		return 5
	case atom.H6:
		return 6
	default:
	}
	return 0
}

// block reports whether an element ends a paragraph.
func block(tag atom.Atom) bool {
	switch tag {
	case atom.Address, atom.Article, atom.Aside, atom.Blockquote, atom.Center, atom.Dd, atom.Details, atom.Dialog, atom.Dir, atom.Div, atom.Dl, atom.Dt,
		atom.Fieldset, atom.Figcaption, atom.Figure, atom.Footer, atom.Form, atom.Header, atom.Hgroup, atom.Hr, atom.Li, atom.Listing, atom.Main, atom.Menu,
		atom.Nav, atom.Ol, atom.P, atom.Plaintext, atom.Pre, atom.Section, atom.Summary, atom.Table, atom.Ul, atom.Xmp:
		return true
	default:
	}
	return level(tag) > 0
}

// special reports whether an element is not closed by end tags of elements without a special meaning.
func special(tag atom.Atom) bool {
	switch tag {
	case atom.Button, atom.Iframe, atom.Noscript, atom.Script, atom.Style, atom.Textarea, atom.Title:
		return true
	default:
	}
	return block(tag) || isWall(tag) || ofTable(tag)
}

// formats reports whether elements that started inside of an element stay open when it ends.
func formats(tag atom.Atom) bool {
	switch tag {
	case atom.A, atom.B, atom.Big, atom.Code, atom.Em, atom.Font, atom.I, atom.Nobr, atom.S, atom.Small, atom.Strike, atom.Strong, atom.Tt, atom.U:
		return true
	default:
	}
	return false
}

// meant reports whether an element affects the text.
func meant(tag atom.Atom) bool {
	switch tag {
	case atom.A, atom.Br, atom.Code, atom.Img, atom.Legend, atom.Option:
		return true
	default:
	}
	return block(tag) || ofTable(tag) || inTable(tag)
}

// unseen reports whether the content of an element is skipped.
func unseen(tag atom.Atom) bool {
	switch tag {
	case atom.Script, atom.Style, atom.Noscript, atom.Template, atom.Svg, atom.Math, atom.Iframe, atom.Object, atom.Embed, atom.Canvas, atom.Select,
		atom.Button, atom.Input, atom.Textarea, atom.Dialog, atom.Noembed, atom.Noframes:
		return true
	default:
	}
	return false
}

// isRaw reports whether the content of an element contains no tags.
func isRaw(tag atom.Atom) bool {
	switch tag {
	case atom.Iframe, atom.Noembed, atom.Noframes, atom.Noscript, atom.Plaintext, atom.Script, atom.Style, atom.Textarea, atom.Title, atom.Xmp:
		return true
	default:
	}
	return false
}

// ofHead reports whether an element belongs to the head, even without its tags.
func ofHead(tag atom.Atom) bool {
	switch tag {
	case atom.Base, atom.Basefont, atom.Bgsound, atom.Link, atom.Meta, atom.Noframes, atom.Noscript, atom.Script, atom.Style, atom.Template, atom.Title:
		return true
	default:
	}
	return false
}

// empty reports whether an element has no end tag.
func empty(tag atom.Atom) bool {
	switch tag {
	case atom.Area, atom.Base, atom.Basefont, atom.Bgsound, atom.Br, atom.Embed, atom.Hr, atom.Img, atom.Input, atom.Keygen, atom.Link, atom.Meta,
		atom.Param, atom.Source, atom.Track, atom.Wbr:
		return true
	default:
	}
	return false
}

// endsForeign reports whether a tag ends SVG or MathML content.
func endsForeign(tag atom.Atom) bool {
	switch tag {
	case atom.B, atom.Big, atom.Blockquote, atom.Body, atom.Br, atom.Center, atom.Code, atom.Dd, atom.Div, atom.Dl, atom.Dt, atom.Em, atom.Embed, atom.Head,
		atom.Hr, atom.I, atom.Img, atom.Li, atom.Listing, atom.Menu, atom.Meta, atom.Nobr, atom.Ol, atom.P, atom.Pre, atom.Ruby, atom.S, atom.Small, atom.Span,
		atom.Strike, atom.Strong, atom.Sub, atom.Sup, atom.Table, atom.Tt, atom.U, atom.Ul, atom.Var:
		return true
	default:
	}
	return level(tag) > 0
}

// hides reports whether an attribute hides its element.
func hides(key, val []byte) bool {
	switch string(key) {
	case "hidden":
		return true
	case "aria-hidden":
		return bytes.EqualFold(val, []byte("true"))
	case "style":
		style := strings.ToLower(strings.Join(strings.Fields(string(val)), "")) + ";"
		style = strings.ReplaceAll(style, "font-size:0.", "") // small, not hidden
		return slices.ContainsFunc(
			[]string{"display:none", "visibility:hidden", "visibility:collapse", "font-size:0", "opacity:0;", "text-indent:-9"},
			func(s string) bool { return strings.Contains(style, s) },
		)
	}
	return false
}
