package tokens

import (
	"encoding/json"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"github.com/pkoukk/tiktoken-go"
	loader "github.com/pkoukk/tiktoken-go-loader"

	"github.com/shipmyagent/shipmyagent/messages/stdtest"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
)

func count(tb testing.TB, c *Counter, text string) int {
	tb.Helper()
	n, err := c.Count(text)
	stdtest.Must(tb, err)
	return n
}

// The assumptions of the bound: the pairs, and English suffixes after an apostrophe.
func TestEveryPairIsOneToken(t *testing.T) {
	c := NewCounter()
	for a := range 128 {
		for b := range 128 {
			if !paired(byte(a)) || !paired(byte(b)) {
				continue
			}
			if n := count(t, c, string([]byte{byte(a), byte(b)})); n != 1 {
				t.Errorf("%q is %d tokens", []byte{byte(a), byte(b)}, n)
			}
		}
	}
	for _, word := range []string{"'s", "'t", "'d", "'m", "'ll", "'ve", "'re"} {
		if n := count(t, c, word); n != 1 {
			t.Errorf("%q is %d tokens", word, n)
		}
	}
}

func prose() string {
	return strings.Repeat("The ships that left in March didn't come back before the ice did; nobody was surprised, "+
		"least of all the harbour master. ", 40) +
		strings.Repeat("我们周三下午三点在会议室讨论部署方案，请带上 v2.3.1 的报告。\n", 40) +
		strings.Repeat("func add(a, b int) int {\n\treturn a + b // 12345678\n}\n\n", 40) +
		strings.Repeat("😀 C'est l'été à Zürich — 42,5 % naïveté <|endoftext|>\r\n", 40)
}

// Two hosts of a process have a counter each, and both may read their tables at the same time.
func TestCountersReadTablesAtOnce(t *testing.T) {
	var both sync.WaitGroup
	for range 2 {
		both.Go(func() {
			if n, err := NewCounter().Count("hello world"); n != 2 || err != nil {
				t.Errorf("%d tokens, %v, want 2", n, err)
			}
		})
	}
	both.Wait()
}

func TestCountIsPlainOnProse(t *testing.T) {
	tiktoken.SetBpeLoader(loader.NewOfflineLoader())
	c := NewCounter()
	plain, err := tiktoken.GetEncoding(name)
	stdtest.Must(t, err)
	for _, text := range []string{"", "a", "hello world", prose(), strings.Repeat(prose(), 3)} {
		want, got := len(plain.EncodeOrdinary(text)), count(t, c, text)
		if got != want {
			t.Errorf("%d bytes of prose are %d tokens, want %d", len(text), got, want)
		}
		if b := Bound(text); b < got {
			t.Errorf("the bound %d is below %d", b, got)
		}
	}
}

// long are inputs for which a tokenizer alone takes minutes.
func long(n int) map[string]string {
	letters := make([]byte, n)
	r := rand.New(rand.NewPCG(1, 2))
	for i := range letters {
		letters[i] = 'a' + byte(r.IntN(26))
	}
	return map[string]string{
		"one letter": strings.Repeat("a", n), "letters": string(letters), "spaces": strings.Repeat(" ", n),
		"newlines": strings.Repeat("\n", n), "dots": strings.Repeat(".", n), "han": strings.Repeat("汉", n/3),
		"emoji": strings.Repeat("😀", n/4), "digits": strings.Repeat("7", n), "bad bytes": strings.Repeat("\xff", n),
	}
}

// A text is split into pieces that are never long, so that the time of a count is proportional to
// their number.
func TestNoPieceIsLong(t *testing.T) {
	texts := long(64 << 10)
	texts["prose"] = strings.Repeat(prose(), 10)
	for name, text := range texts {
		whole := ""
		for rest := text; rest != ""; {
			at := part(rest)
			if at <= 0 || at > maxChunk {
				t.Fatalf("%s: a part of %d bytes", name, at)
			}
			if name != "prose" && at > maxRun {
				t.Errorf("%s: a run of %d bytes", name, at)
			}
			whole, rest = whole+rest[:at], rest[at:]
		}
		if whole != text {
			t.Errorf("%s: the parts are not the whole", name)
		}
	}
}

func TestBoundHoldsOnLongRuns(t *testing.T) {
	c := NewCounter()
	for name, text := range long(32 << 10) {
		if n, b := count(t, c, text), Bound(text); n > b {
			t.Errorf("%s: %d tokens, the bound is %d", name, n, b)
		}
	}
}

func TestCountStopsAtALimit(t *testing.T) {
	text := strings.Repeat("word ", maxText/5) + strings.Repeat("汉", 1000)
	if n := count(t, NewCounter(), text); n < maxText/5 || n > Bound(text) {
		t.Errorf("%d tokens", n)
	}
}

func FuzzBound(f *testing.F) {
	f.Add("didn't come")
	f.Add("d's'tar l'll'restore")
	f.Add(strings.Repeat("ab", 300))
	f.Add("   \n\n\t x\r\n . \r\n")
	f.Add("漢字かな交じり文 한국어 ⟨∀x⟩")
	c := NewCounter()
	f.Fuzz(func(t *testing.T, text string) {
		if n, b := count(t, c, text), Bound(text); n > b {
			t.Errorf("%q is %d tokens, the bound is %d", text, n, b)
		}
	})
}

// Random texts of the letters for which the bound is tight.
func TestBoundHoldsOnLetters(t *testing.T) {
	const alphabet = "abcdehiklmnoprstuwy' .Qz1\n"
	r := rand.New(rand.NewPCG(3, 4))
	c := NewCounter()
	for range 3000 {
		b := make([]byte, r.IntN(60))
		for i := range b {
			b[i] = alphabet[r.IntN(len(alphabet))]
		}
		if n, bound := count(t, c, string(b)), Bound(string(b)); n > bound {
			t.Fatalf("%q is %d tokens, the bound is %d", b, n, bound)
		}
	}
}

func TestTurn(t *testing.T) {
	measure := func(text string) int { return len(text) }
	m := uimessage.Message{Parts: []uimessage.Part{
		uimessage.Text{Text: "1234"},
		uimessage.StepStart{},
		uimessage.Tool{
			Name: "look", Input: json.RawMessage(`{}`), Output: json.RawMessage(`"12"`), ErrorText: uimessage.Some("123"),
		},
		uimessage.File{URL: strings.Repeat("x", 9999)},
	}}
	if got, want := Turn(m, measure), turnPrice+4+callPrice+4+2+4+3+filePrice; got != want {
		t.Errorf("the turn costs %d, want %d", got, want)
	}
}

func TestCorrect(t *testing.T) {
	for _, tt := range []struct {
		n                 int
		reported, counted int64
		want              int
	}{
		{1000, 0, 500, 1000}, {1000, 500, 0, 1000}, {1000, 600, 500, 1200}, {1000, 1, 500, 500}, {1000, 9999, 500, 2000},
	} {
		if got := Correct(tt.n, tt.reported, tt.counted); got != tt.want {
			t.Errorf("Correct(%d, %d, %d) is %d, want %d", tt.n, tt.reported, tt.counted, got, tt.want)
		}
	}
}

func BenchmarkBound(b *testing.B) {
	text := prose()
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		Bound(text)
	}
}

func BenchmarkCount(b *testing.B) {
	c := NewCounter()
	texts := long(1 << 20)
	texts["prose"] = strings.Repeat(prose(), 1+(1<<20)/len(prose()))[:1<<20]
	for name, text := range texts {
		b.Run(name, func(b *testing.B) {
			count(b, c, "")
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				count(b, c, text)
			}
		})
	}
}

func BenchmarkLoad(b *testing.B) {
	for b.Loop() {
		count(b, NewCounter(), "x")
	}
}
