package searchindex

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"
	"sort"
	"strings"

	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/persistence"
)

// everyChat is used instead of a chat's number for all chats.
const everyChat int64 = 0

const (
	// candidates is how many turns are ranked, the most recently indexed first.
	candidates = 1000
	// enough is the number of turns with all terms from which turns with some of them are left out.
	// One turn is too few: it may be the same question, asked before.
	enough = 3
	// BM25, with the usual constants.
	k1, b = 1.2, 0.75
)

// match is a turn that matches the query.
type match struct {
	key   messages.ChatKey
	file  string
	turn  string
	at    int64
	ts    int64
	score float64
	words int
	count []int // how often each of the terms occurs that count for the score
	all   bool  // it contains all terms
}

// match finds and ranks turns: those with all terms, followed, if there are few, by those with any.
// The statistics for the scores are those of the chat alone.
func (d *database) match(ctx context.Context, chat int64, terms []term) ([]match, error) {
	found, err := d.candidates(ctx, chat, terms, true, terms)
	if err != nil {
		return nil, err
	}
	loose := loosen(terms)
	if len(found) >= enough || len(loose) == 1 {
		if len(terms) > 1 { // a single one does not affect the order
			terms, err = d.counted(ctx, chat, terms)
		}
		return found, errors.Join(err, d.rank(ctx, chat, found, terms))
	}
	if loose, err = d.counted(ctx, chat, loose); err != nil {
		return nil, err
	}
	rare := rarest(loose)
	if len(rare) == 0 {
		return nil, nil
	}
	whole, err := d.candidates(ctx, chat, terms, true, loose) // few
	if err != nil {
		return nil, err
	}
	some, err := d.candidates(ctx, chat, rare, false, loose)
	if err != nil {
		return nil, err
	}
	found = whole
	for _, m := range some {
		if !slices.ContainsFunc(whole, func(f match) bool { return f.key == m.key && f.file == m.file && f.at == m.at }) {
			found = append(found, m)
		}
	}
	return found, d.rank(ctx, chat, found, loose)
}

// counted returns the terms with the numbers of turns of the chat that contain them.
func (d *database) counted(ctx context.Context, chat int64, terms []term) (out []term, err error) {
	for _, t := range terms {
		if t.turns, err = d.count(ctx, chat, t); err != nil {
			return nil, err
		}
		out = append(out, t)
	}
	return out, nil
}

// rarest returns the terms that occur in the fewest turns, as many as together have no more turns
// than are ranked: with a term of every other turn only the newest turns would be left.
func rarest(terms []term) []term {
	list := slices.DeleteFunc(slices.Clone(terms), func(t term) bool { return t.turns == 0 })
	sort.SliceStable(list, func(i, j int) bool { return list[i].turns < list[j].turns })
	sum := 0.0
	for i, t := range list {
		if sum += t.turns; i > 0 && sum > candidates {
			return list[:i]
		}
	}
	return list
}

// rank sorts the matches: those with all terms first, then by BM25, then by time.
func (d *database) rank(ctx context.Context, chat int64, found []match, terms []term) error {
	if len(found) == 0 {
		return nil
	}
	var turns, words float64
	query := "SELECT turns, words FROM chats WHERE id = ?"
	if chat == everyChat {
		query = "SELECT sum(turns), sum(words) FROM chats WHERE id > ?"
	}
	if err := d.sql.QueryRowContext(ctx, query, chat).Scan(&turns, &words); err != nil {
		return err
	}
	for at, t := range terms {
		weight := 1.0 // of the only term, which does not affect the order
		if len(terms) > 1 {
			weight = math.Log(1 + (turns-t.turns+0.5)/(t.turns+0.5))
		}
		for i := range found {
			tf := float64(found[i].count[at])
			long := float64(found[i].words) * turns / words
			found[i].score += weight * tf * (k1 + 1) / (tf + k1*(1-b+b*long))
		}
	}
	sort.Slice(found, func(i, j int) bool {
		a, b := &found[i], &found[j]
		if a.all != b.all {
			return a.all
		}
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(b.ts, a.ts), cmp.Compare(a.key, b.key), cmp.Compare(a.file, b.file), cmp.Compare(b.at, a.at)) < 0
	})
	return nil
}

// candidates returns turns that contain all of the terms, or any, with how often the counted terms occur in each. One
// turn at a time is in memory, because turns may be long.
func (d *database) candidates(ctx context.Context, chat int64, terms []term, all bool, counted []term) ([]match, error) {
	operator := " OR "
	if all {
		operator = " AND "
	}
	list := make([]string, len(terms))
	for i, t := range terms {
		list[i] = t.expression()
	}
	// The number of the chat is checked twice: as a word it makes the search fast, as a column it is
	// authoritative.
	const query = `SELECT c.key, t.file, t.turn, t.at, t.ts, w.body FROM texts w JOIN turns t ON t.id = w.rowid JOIN chats c ON c.id = t.chat
		WHERE texts MATCH ? AND (t.chat = ? OR ? = 0) ORDER BY w.rowid DESC LIMIT ?`
	var out []match
	var words []string // of one turn
	err := d.each(ctx, func(scan func(...any) error) error {
		m := match{all: all}
		var body string
		if err := scan(&m.key, &m.file, &m.turn, &m.at, &m.ts, &body); err != nil {
			return err
		}
		words = slices.AppendSeq(words[:0], strings.SplitSeq(body, " "))
		m.words = len(words)
		for _, t := range counted {
			m.count = append(m.count, t.count(words))
		}
		out = append(out, m)
		return nil
	}, query, within(chat, strings.Join(list, operator)), chat, chat, candidates)
	return out, err
}

// count is the number of turns of the chat with a term. It stops at the number of candidates,
// because higher counts hardly matter.
func (d *database) count(ctx context.Context, chat int64, t term) (n float64, err error) {
	err = d.sql.QueryRowContext(ctx, "SELECT count(*) FROM (SELECT rowid FROM texts WHERE texts MATCH ? LIMIT ?)",
		within(chat, t.expression()), 10*candidates).Scan(&n)
	return n, err
}

// within restricts an expression to the texts of a chat.
func within(chat int64, expression string) string {
	if chat == everyChat {
		return "body : (" + expression + ")"
	}
	return `chat : "` + chatWord(chat) + `" AND body : (` + expression + ")"
}

// reopen reads the matches from the files, the best first. A turn that is no longer at its place
// has moved since, and is left out; one that is in two files because a rewrite was interrupted
// counts once.
func (x *Index) reopen(q persistence.Search, terms []term, found []match) ([]persistence.Found, error) {
	type id struct {
		key  messages.ChatKey
		turn string
	}
	seen := map[id]bool{}
	files := map[messages.ChatKey]*originals{}
	var out []persistence.Found
	for _, m := range found {
		if len(out) == q.Limit {
			break
		}
		if seen[id{m.key, m.turn}] {
			continue
		}
		if files[m.key] == nil {
			dir, err := x.opts.ChatDir(m.key)
			if err != nil {
				return nil, err
			}
			files[m.key] = &originals{dir: dir, archives: map[string][]line{}}
		}
		raw, err := files[m.key].read(m.file, m.at)
		if errors.Is(err, errNotFound) {
			continue
		}
		if err != nil {
			return nil, err
		}
		message, ok := x.parse(m.file, raw)
		if !ok || message.ID != m.turn || q.NotRequest != "" && requestOf(message) == q.NotRequest {
			continue
		}
		seen[id{m.key, m.turn}] = true
		around := terms
		if !m.all {
			around = loosen(terms)
		}
		out = append(out, persistence.Found{
			ChatKey: m.key, Place: place(m.file, m.at), Score: math.Round(m.score*1000) / 1000, Message: message, Line: raw,
			Excerpt: excerpt(saying(message, x.opts.Skip), around),
		})
	}
	return out, nil
}
