package markup

import (
	"strings"

	"github.com/yuin/goldmark/ast"
	extast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"golang.org/x/text/width"
)

// maxColumn is the widest column that is padded; wider cells overflow.
const maxColumn = 40

// tableRow is one line of a table; the first is its head.
type tableRow []cell

type cell struct {
	spans []span
	text  string // plain, on one line
	width int
	align extast.Alignment
}

func (b *flattener) rows(n *extast.Table) []tableRow {
	var rows []tableRow
	for r := n.FirstChild(); r != nil; r = r.NextSibling() {
		rows = append(rows, b.row(r))
	}
	return rows
}

// table lays out a table in columns.
func table(rows []tableRow) string {
	var widths []int
	for _, row := range rows {
		for i, c := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], min(c.width, maxColumn))
		}
	}
	var out strings.Builder
	for i, row := range rows {
		out.WriteString(line(row, widths))
		out.WriteByte('\n')
		if i == 0 {
			out.WriteString(underline(widths))
		}
	}
	return strings.TrimRight(out.String(), "\n")
}

func (b *flattener) row(n ast.Node) tableRow {
	var row tableRow
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		spans := b.inlines(c, 0, "")
		t := strings.Join(strings.Fields(joined(spans)), " ")
		align := extast.AlignNone
		if tc, ok := c.(*extast.TableCell); ok {
			align = tc.Alignment
		}
		row = append(row, cell{spans: spans, text: t, width: displayWidth(t), align: align})
	}
	return row
}

func line(row tableRow, widths []int) string {
	var out strings.Builder
	for i, c := range row {
		if i > 0 {
			out.WriteString(" | ")
		}
		free := max(0, widths[i]-c.width)
		left := 0
		switch c.align {
		case extast.AlignRight:
			left = free
		case extast.AlignCenter:
			left = free / 2
		case extast.AlignLeft, extast.AlignNone:
		}
		out.WriteString(strings.Repeat(" ", left) + c.text + strings.Repeat(" ", free-left))
	}
	return strings.TrimRight(out.String(), " ")
}

func underline(widths []int) string {
	var out strings.Builder
	for i, w := range widths {
		if i > 0 {
			out.WriteString("-+-")
		}
		out.WriteString(strings.Repeat("-", w))
	}
	return out.String() + "\n"
}

// displayWidth counts columns of a fixed-width font: two for wide characters.
func displayWidth(s string) int {
	n := 0
	for _, r := range s {
		switch k := width.LookupRune(r).Kind(); {
		case joins(r):
		case k == width.EastAsianWide, k == width.EastAsianFullwidth:
			n += 2
		default:
			n++
		}
	}
	return n
}

// surplusCells restores the cells that a row has beyond its header, which the table grammar drops.
type surplusCells struct{}

func (surplusCells) Transform(doc *ast.Document, reader text.Reader, _ parser.Context) {
	src := reader.Source()
	_ = ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		row, ok := n.(*extast.TableRow)
		if !entering || !ok {
			return ast.WalkContinue, nil
		}
		last := row.LastChild()
		if last == nil || last.Lines() == nil || last.Lines().Len() == 0 {
			return ast.WalkSkipChildren, nil
		}
		rest := string(src[last.Lines().At(0).Stop:])
		rest, _, _ = strings.Cut(rest, "\n")
		for c := range strings.SplitSeq(strings.Trim(rest, "| \t"), "|") {
			if c = strings.TrimSpace(c); c != "" {
				extra := extast.NewTableCell()
				extra.Alignment = extast.AlignNone
				extra.AppendChild(extra, ast.NewString([]byte(c)))
				row.AppendChild(row, extra)
			}
		}
		return ast.WalkSkipChildren, nil
	})
}
