package markup

import (
	"strings"

	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer/html"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

const (
	// maxParsed is the longest text that is parsed; a longer one is shown literally.
	maxParsed = 256 << 10
	// maxNesting is how many block markers one line may begin with.
	maxNesting = 48
	// maxBrackets is how many brackets are parsed for links, and maxStyles how many marks of styles. Both take
	// quadratic time.
	maxBrackets, maxStyles = 4000, 10_000
	// maxCells is how many cells the tables of a text may have. The parser also makes those that a row leaves out.
	maxCells = 50_000
)

// Renderer parses and renders. It is safe for concurrent use.
type Renderer struct {
	parser parser.Parser
	text   html.Writer
}

// New returns a Renderer. Reuse it: building one costs more than a rendering.
func New() *Renderer {
	return &Renderer{parser: newParser(), text: html.NewWriter()}
}

// newParser returns the only grammar: CommonMark with tables, strikethrough, task lists and bare
// links, but without link reference definitions, which would make lines of the text disappear.
func newParser() parser.Parser {
	return parser.NewParser(
		parser.WithBlockParsers(parser.DefaultBlockParsers()...),
		parser.WithInlineParsers(parser.DefaultInlineParsers()...),
		parser.WithInlineParsers(
			util.Prioritized(extension.NewTaskCheckBoxParser(), 0),
			util.Prioritized(extension.NewStrikethroughParser(), 500),
			util.Prioritized(extension.NewLinkifyParser(), 999),
		),
		parser.WithParagraphTransformers(
			util.Prioritized(extension.NewTableParagraphTransformer(), 200),
		),
		parser.WithASTTransformers(
			util.Prioritized(extension.NewTableASTTransformer(), 0),
			util.Prioritized(surplusCells{}, 1),
		),
	)
}

// Plain renders a text without markup: links as text (URL), code blocks fenced, quotes with a bar.
func (r *Renderer) Plain(src string) string {
	return plain(r.blocks(src))
}

// blocks parses and flattens a text.
func (r *Renderer) blocks(src string) []leaf {
	src = clean(src)
	switch {
	case isPlain(src), tooMuch(src):
		return paragraphs(src)
	default:
		return r.flatten([]byte(src))
	}
}

func (r *Renderer) flatten(src []byte) []leaf {
	b := &flattener{src: src, text: r.text}
	b.children(r.parser.Parse(text.NewReader(src)))
	return b.leaves
}

// tooMuch reports whether a text is too long, too deeply nested or has too large tables to be parsed.
func tooMuch(src string) bool {
	styles := strings.Count(src, "*") + strings.Count(src, "_") + strings.Count(src, "~")
	if len(src) > maxParsed || strings.Count(src, "[") > maxBrackets || styles > maxStyles {
		return true
	}
	cells, columns := 0, 0
	for line := range strings.Lines(src) {
		switch {
		case strings.Trim(line, "> \t\n") == "":
			columns = 0
		case strings.Trim(line, "|-: \t\n>*+.)0123456789") == "": // perhaps below the head of a table, in quotes and lists
			columns = max(columns, strings.Count(line, "|"))
		}
		cells += columns
	}
	if cells > maxCells {
		return true
	}
	markers, leading := 0, true
	for i := range len(src) {
		switch c := src[i]; {
		case c == '\n':
			markers, leading = 0, true
		case !leading:
		case c == '>', c == '-', c == '+', c == '*', c == '.', c == ')':
			if markers++; markers > maxNesting && !isRun(src, i) {
				return true
			}
		case c == ' ', c == '\t', '0' <= c && c <= '9':
		default:
			leading = false
		}
	}
	return false
}

// isRun reports whether the byte repeats the previous one and nests nothing, as in a rule of many
// dashes.
func isRun(src string, i int) bool {
	return i > 0 && src[i] == src[i-1] && src[i] != '>'
}
