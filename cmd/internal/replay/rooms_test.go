package replay

import (
	"cmp"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

// line is one message of a room, without those of the nick that plays the bot.
type line struct {
	nick, text string
	// words are what follows the bot's nick in a line that addresses it.
	words     string
	addressed bool
	extra
}

// room is some hours of a group chat.
type room struct {
	name  string
	bot   string // the nick that plays the bot
	lines []line
}

func (r room) addressed() int {
	n := 0
	for _, l := range r.lines {
		if l.addressed {
			n++
		}
	}
	return n
}

// otherRooms names a folder of rooms to play in the place of those of testdata/irc.
const otherRooms = "REPLAY_ROOMS"

// someRooms are the rooms that are named, or all, or those of the folder of [otherRooms]
// instead: of many as many as were named, those that ask most.
func someRooms(tb testing.TB, names ...string) []room {
	tb.Helper()
	dir := os.Getenv(otherRooms)
	if dir == "" {
		return readRooms(tb, names...)
	}
	all := roomsOf(tb, filepath.Join(dir, "*.txt"), nil)
	all = slices.DeleteFunc(all, func(r room) bool { return len(r.lines) == 0 })
	if len(all) == 0 {
		tb.Fatalf("%s has no rooms in it", dir)
	}
	slices.SortStableFunc(all, func(a, b room) int { return cmp.Compare(b.addressed(), a.addressed()) })
	if len(names) > 0 {
		all = all[:min(len(all), len(names))]
	}
	return all
}

// readRooms reads all rooms of testdata/irc, or those named.
func readRooms(tb testing.TB, names ...string) []room {
	tb.Helper()
	return roomsOf(tb, filepath.Join("testdata", "irc", "*.*.txt"), names)
}

func roomsOf(tb testing.TB, pattern string, names []string) []room {
	tb.Helper()
	paths, err := filepath.Glob(pattern)
	stdtest.Must(tb, err)
	var out []room
	for _, path := range paths {
		name, _, _ := strings.Cut(filepath.Base(path), ".raw.txt")
		name, _, _ = strings.Cut(name, ".ascii.txt")
		name = strings.TrimSuffix(name, ".txt")
		if len(names) > 0 && !slices.Contains(names, name) {
			continue
		}
		text := stdtest.Read(tb, path)
		out = append(out, parseRoom(name, strings.ToValidUTF8(string(text), "\uFFFD")))
	}
	return out
}

// longestLine is the longest text that the platform carries, without a mention.
const longestLine = 4000

// parseRoom reads a log. Actions, joins, leaves, renames and notices are no
// messages, and neither is a line without words: no platform carries one. A line that
// is too long for a message is several.
func parseRoom(name, log string) room {
	message := regexp.MustCompile(`^(?:\S+ \d{4}-\d\d-\d\d )?\[\d\d:\d\d(?::\d\d)?\] <([^>]+)> (.*)$`)
	var said []line
	for text := range strings.SplitSeq(log, "\n") {
		m := message.FindStringSubmatch(text)
		if m == nil {
			continue
		}
		if words := strings.TrimSpace(m[2]); words != "" {
			for r := range slices.Chunk([]rune(words), longestLine/2) { // a rune may be two units
				if words := strings.TrimSpace(string(r)); words != "" {
					said = append(said, line{nick: strings.TrimSpace(m[1]), text: words})
				}
			}
		}
	}
	r := room{name: name, bot: mostAddressed(said)}
	for _, l := range said {
		if l.nick == r.bot {
			continue
		}
		if to, ok := addressee(l.text); ok && to == r.bot {
			l.addressed, l.words = true, l.text[len(to):]
		}
		r.lines = append(r.lines, l)
	}
	return r
}

// addressee is the word before the first colon or comma, if the line begins so.
func addressee(text string) (string, bool) {
	i := strings.IndexAny(text, ":, \t")
	if i <= 0 || text[i] == ' ' || text[i] == '\t' {
		return "", false
	}
	return text[:i], true
}

// mostAddressed is the speaker that most lines of others begin with.
func mostAddressed(said []line) string {
	count := map[string]int{}
	for _, l := range said {
		count[l.nick] += 0
	}
	for _, l := range said {
		if to, ok := addressee(l.text); ok && to != l.nick {
			if _, speaks := count[to]; speaks {
				count[to]++
			}
		}
	}
	best := ""
	for nick, n := range count {
		if best == "" || cmp.Or(cmp.Compare(n, count[best]), cmp.Compare(best, nick)) > 0 {
			best = nick
		}
	}
	return best
}

func TestRooms(t *testing.T) {
	type figures struct {
		Name, Bot           string
		Messages, Addressed int
	}
	want := []figures{
		{"2004-11-15_03", "jief", 970, 60},
		{"2005-06-27_12", "bob2", 840, 51},
		{"2005-08-08_01", "MartenH", 985, 37},
		{"2008-12-11_11", "ultratek", 1179, 38},
		{"2009-02-23_10", "eepberries", 1092, 73},
		{"2009-03-03_10", "ikonia", 1094, 50},
		{"2009-10-01_17", "system404", 1175, 26},
		{"2011-05-29_19", "Skunkwaffle", 1164, 45},
		{"2011-11-13_02", "pfifo", 1136, 42},
		{"2016-12-19_20", "Arrghus", 1151, 26},
		{"rust.0", "sarnold", 1126, 16},
		{"rust.1", "Yatekii", 1123, 46},
		{"rust.2", "talchas", 1110, 17},
		{"ubuntu-meeting.0", "bdrung", 1086, 19},
	}
	var got []figures
	for _, r := range readRooms(t) {
		got = append(got, figures{r.name, r.bot, len(r.lines), r.addressed()})
	}
	if diff := gocmp.Diff(want, got); diff != "" {
		t.Errorf("rooms (-want +got):\n%s", diff)
	}
}
