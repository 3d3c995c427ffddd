package files

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"regexp/syntax"
	"strings"
	"unicode/utf8"

	"github.com/shipmyagent/shipmyagent/adapters/internal/quoted"
	"github.com/shipmyagent/shipmyagent/adapters/tool"
)

const (
	// maxFound is the maximum number of matches in one result.
	maxFound = 100
	// maxSearched is the largest file that is searched, in bytes.
	maxSearched = 4 << 20
	// maxProgram bounds a compiled pattern. The time to search a line, which nothing ends early, grows with it.
	maxProgram = 600
	// around is how many bytes of a line are shown before a match, and roughly after it.
	around = 120
)

// Search is the tool search_files.
type Search struct {
	tool.Described

	w *Workspace
}

type searchResult struct {
	Source  string  `json:"source"`
	Note    string  `json:"note"`
	Files   int     `json:"filesSearched"`
	Skipped int     `json:"filesSkipped,omitempty"`
	Next    int     `json:"next,omitempty"`
	Matches []match `json:"matches"`
}

// match is a matching line, shortened to the surroundings of its first match.
type match struct {
	Path string `json:"path"`
	Line int    `json:"line"`
	Text string `json:"text"`
}

// search is the state of one call.
type search struct {
	tree    *tree
	pattern *regexp.Regexp
	from    int
	number  int // number of matches so far
	used    int
	out     searchResult
}

// Invoke implements [tool.Tool].
func (s *Search) Invoke(ctx context.Context, call tool.Call) (tool.Result, error) {
	in := struct {
		Query, Path string
		Regexp      bool
		From        int
	}{From: 1}
	if err := call.Read(&in); err != nil {
		return tool.Result{}, err
	}
	pattern, err := compile(in.Query, in.Regexp)
	if err != nil {
		return tool.Result{}, err
	}
	t, p, err := s.w.open(in.Path)
	if err != nil {
		return tool.Result{}, err
	}
	defer t.close()
	defer p.close()
	job := &search{tree: t, pattern: pattern, from: in.From, out: searchResult{Source: "files below " + p.path, Note: note, Matches: []match{}}}
	if p.info.IsDir() {
		err = t.below(ctx, p, func(e entry) (bool, error) { return job.visit(ctx, e) })
	} else {
		err = job.file(ctx, p)
	}
	switch {
	case errors.Is(err, errTooMany):
		job.out.Note += " There are too many files; not all were searched."
	case errors.Is(err, context.DeadlineExceeded):
		job.out.Note += " The time is up; not all were searched; name a folder in path."
	case err != nil && !errors.Is(err, errEnough):
		return tool.Result{}, err
	}
	return reply(job.out, fmt.Sprintf("%s: %d matches", shown(tool.Head(in.Query, 80)), len(job.out.Matches)))
}

// compile compiles a pattern, which must not take too long. It ignores case if the query has no capital letters.
func compile(query string, isPattern bool) (*regexp.Regexp, error) {
	if !isPattern {
		query = regexp.QuoteMeta(query)
	}
	if strings.ToLower(query) == query {
		query = "(?i)" + query
	}
	tree, err := syntax.Parse(query, syntax.Perl)
	if err != nil {
		return nil, fmt.Errorf("%w: /query: %w; the syntax is that of RE2", tool.ErrInput, err)
	}
	if program, err := syntax.Compile(tree.Simplify()); err != nil || len(program.Inst) > maxProgram {
		return nil, fmt.Errorf("%w: /query: the pattern takes too long; repeat less in it", tool.ErrInput)
	}
	return regexp.Compile(query) //nolint:wrapcheck // Unreachable: it was parsed
}

func (s *search) visit(ctx context.Context, e entry) (bool, error) {
	path := e.path()
	closed := s.tree.guard.of(path).noRead != ""
	switch {
	case e.info.IsDir():
		return (!closed || opens(path)) && e.parts[len(e.parts)-1] != "node_modules", nil
	case !e.info.Mode().IsRegular():
		return false, nil
	case closed:
		s.out.Skipped++
		return false, nil
	}
	err := s.file(ctx, &place{path: path, dir: e.dir, name: e.parts[len(e.parts)-1], info: e.info})
	if err == nil || errors.Is(err, errEnough) || ctx.Err() != nil {
		return false, err
	}
	s.out.Skipped++ // refused, removed or unreadable
	return false, nil
}

// file searches one file.
func (s *search) file(ctx context.Context, p *place) error {
	f, err := s.tree.open(p)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // opened for reading only
	if p.info.Size() > maxSearched {
		return fmt.Errorf("%s has %s; files up to %s are searched", shown(p.path), bytesOf(p.info.Size()), bytesOf(maxSearched))
	}
	in := bufio.NewReaderSize(io.LimitReader(f, maxSearched), sniffed)
	head, err := in.Peek(sniffed)
	if err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("read %s: %w", shown(p.path), cause(err))
	}
	if kind := kindOf(head); kind != "" {
		return fmt.Errorf("%s is not searched: it is %s", shown(p.path), kind)
	}
	s.out.Files++
	for line := 1; ; line++ {
		text, err := in.ReadBytes('\n')
		if len(text) > 0 {
			if enough := s.line(p.path, line, bytes.TrimRight(text, "\r\n")); enough != nil {
				return enough
			}
		}
		if err != nil {
			return nil // the end, or an error after the readable part
		}
		if line%1000 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
	}
}

func (s *search) line(path string, number int, text []byte) error {
	at := s.pattern.FindIndex(text)
	if at == nil {
		return nil
	}
	if s.number++; s.number < s.from {
		return nil
	}
	m := match{Path: path, Line: number, Text: excerpt(text, at[0])}
	size := quoted.Len(m.Path) + quoted.Len(m.Text) + 40
	if len(s.out.Matches) >= maxFound || s.used+size > room && len(s.out.Matches) > 0 {
		s.out.Next = s.number
		return errEnough
	}
	s.used += size
	s.out.Matches = append(s.out.Matches, m)
	return nil
}

// excerpt is the part of a line around an offset.
func excerpt(line []byte, at int) string {
	start, end := max(0, at-around), min(len(line), at+2*around)
	for start > 0 && start < len(line) && !utf8.RuneStart(line[start]) {
		start++
	}
	for end < len(line) && !utf8.RuneStart(line[end]) {
		end++
	}
	text := strings.ToValidUTF8(string(line[start:end]), "\ufffd")
	if start > 0 {
		text = "…" + text
	}
	if end < len(line) {
		text += "…"
	}
	return text
}
