// Package contextsearch finds the archived context that a person or a model means. It is pure.
package contextsearch

import (
	"cmp"
	"slices"
	"sort"
	"strings"
	"unicode"

	"github.com/shipmyagent/shipmyagent/persistence/journal"
)

const (
	// maxQueryWords bounds how many words of a query are used.
	maxQueryWords = 24
	titleWeight   = 4
	previewWeight = 2
)

// Find finds the context that a query means: the best match, if it contains all words of the
// query and no other is as good. Otherwise found is false, and best are the candidates, at most n.
func Find(items []journal.ContextItem, query string, n int) (best []journal.ContextItem, found bool) {
	type ranked struct {
		item  journal.ContextItem
		score int
		all   bool
	}
	words := queryWords(query)
	list := make([]ranked, 0, len(items))
	for _, item := range items {
		if item.ID == strings.TrimSpace(query) {
			return []journal.ContextItem{item}, true
		}
		r := ranked{item: item, all: len(words) > 0}
		title, preview, text := strings.ToLower(item.Title), strings.ToLower(item.SummaryPreview), strings.ToLower(item.SearchText)
		for _, w := range words {
			score := 0
			for _, in := range []struct {
				text   string
				weight int
			}{{title, titleWeight}, {preview, previewWeight}, {text, 1}} {
				if strings.Contains(in.text, w) {
					score += in.weight
				}
			}
			r.score += score
			r.all = r.all && score > 0
		}
		list = append(list, r)
	}
	sort.SliceStable(list, func(i, j int) bool {
		a, b := &list[i], &list[j]
		if a.all != b.all {
			return a.all
		}
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(b.item.ArchivedAt, a.item.ArchivedAt)) < 0
	})
	if len(list) > 0 && list[0].all && (len(list) == 1 || !list[1].all || list[1].score < list[0].score) {
		return []journal.ContextItem{list[0].item}, true
	}
	for _, r := range list[:min(n, len(list))] {
		best = append(best, r.item)
	}
	return best, false
}

// queryWords are the words of a query in lower case, each once. Chinese has no blanks between
// words: there every two adjacent characters are one word.
func queryWords(query string) []string {
	var words []string
	add := func(w []rune, wide bool) {
		if !wide {
			words = append(words, string(w))
			return
		}
		for i := range max(len(w)-1, 1) {
			words = append(words, string(w[i:min(i+2, len(w))]))
		}
	}
	var run []rune
	wide := false
	for _, r := range strings.ToLower(query) + " " {
		isWide := unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul)
		word := isWide || unicode.IsLetter(r) || unicode.IsDigit(r)
		if len(run) > 0 && (!word || isWide != wide) {
			add(run, wide)
			run = nil
		}
		if word {
			run, wide = append(run, r), isWide
		}
	}
	slices.Sort(words)
	words = slices.Compact(words)
	return words[:min(len(words), maxQueryWords)]
}
