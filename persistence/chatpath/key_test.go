package chatpath

import (
	"bufio"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"

	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

func TestEncodeKey(t *testing.T) {
	for _, tc := range []struct{ name, key, want string }{
		{"telegram", "telegram-chat--100123-topic-7", "telegram-chat--100123-topic-7"},
		{"account", "telegram@work-chat-42", "telegram@work-chat-42"},
		{"feishu", "feishu-chat-oc_5ad11d72b830411d72b836c20", "feishu-chat-oc_5ad11d72b830411d72b836c20"},
		{"capitals", "task-daily-20260102T0900", "task-daily-20260102+t0900"},
		{"dots", "..", "%2e."},
		{"dot", ".", "%2e"},
		{"inner dot", "cli-chat-a.b", "cli-chat-a.b"},
		{"slash", "a/../b", "a%2f..%2fb"},
		{"marks", "+%~", "%2b%25%7e"},
		{"chinese", "世", "%e4%b8%96"},
		{"nul", "\x00", "%00"},
		{"long", strings.Repeat("a", 300), strings.Repeat("a", 198) + "~/" + strings.Repeat("a", 102)},
		{"long, dot at the fold", strings.Repeat("a", 198) + "..", strings.Repeat("a", 198) + "~/%2e."},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, err := Encode(messages.ChatKey(tc.key))
			if err != nil || got != tc.want {
				t.Fatalf("got %q, %v, want %q", got, err, tc.want)
			}
			if back, err := Decode(got); err != nil || string(back) != tc.key {
				t.Errorf("decoded %q, %v", back, err)
			}
		})
	}
}

func TestST15RefusedKeys(t *testing.T) {
	for _, key := range []string{"", strings.Repeat("a", messages.MaxChatKey+1), "a\xff", "\xed\xa0\x80"} {
		if got, err := Encode(messages.ChatKey(key)); !errors.Is(err, messages.ErrChatKey) {
			t.Errorf("%q: got %q, %v, want ErrChatKey", key, got, err)
		}
	}
	for _, folder := range []string{
		"", ".", "..", "A", "%41", "%2F", "+", "+1", "%", "%4", "a/b", "a~/b", "~/a", "a~", "世", ".a", "%e4",
		strings.Repeat("a", 199), strings.Repeat("a", 198) + "~/", strings.Repeat("a", 198) + "~/.",
	} {
		if key, err := Decode(folder); !errors.Is(err, errFolder) {
			t.Errorf("%q: got %q, %v, want a refusal", folder, key, err)
		}
	}
}

// keyCase is a line of the file that CHATKEY_CASES names.
type keyCase struct {
	ID     string `json:"id"`
	Key    string `json:"key"`
	Base64 string `json:"key_b64"`
	Expect string `json:"expect"`
}

func keyCases(t *testing.T) []keyCase {
	t.Helper()
	list := []keyCase{
		{ID: "full unicode", Key: strings.Repeat("𝕏", messages.MaxChatKey/4), Expect: "accept"},
		{ID: "full ascii", Key: strings.Repeat("A", messages.MaxChatKey), Expect: "accept"},
		{ID: "full dots", Key: strings.Repeat(".", messages.MaxChatKey), Expect: "accept"},
		{ID: "full control", Key: strings.Repeat("\x01", messages.MaxChatKey), Expect: "accept"},
	}
	for i, key := range []string{
		"a", "A", "ａ", "é", "e\u0301", "É", "E\u0301", "ß", "ss", "SS", "ẞ", "ﬁ", "fi", "İ", "i", "ı", "I", "Å", "\u212b", "A\u030a", "K", "\u212a", "k",
		".", "..", "...", "~", "a~", "a~/b", "a/b", "a%2fb", "%2f", "/", "\\", "con", "CON", "nul.txt", "a ", " a", "a.", "a\n", "+a", "+A", "%41", "messages",
		"telegram-chat-1", "Telegram-chat-1", "telegram-chat--1", "telegram-chat-1-topic-2", "👩‍👩‍👧", "한", "한", "\ufeffa", "a\u200bb", "σ", "ς", "Σ",
	} {
		list = append(list, keyCase{ID: fmt.Sprint("own ", i), Key: key, Expect: "accept"})
	}
	name := os.Getenv("CHATKEY_CASES")
	if name == "" {
		return list
	}
	f, err := os.Open(name)
	stdtest.Must(t, err)
	defer func() { _ = f.Close() }()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		if strings.TrimSpace(lines.Text()) == "" {
			continue
		}
		var c keyCase
		stdtest.Must(t, json.Unmarshal(lines.Bytes(), &c))
		if c.Base64 != "" {
			raw, err := base64.StdEncoding.DecodeString(c.Base64)
			stdtest.Must(t, err)
			c.Key = string(raw)
		}
		list = append(list, c)
	}
	stdtest.Must(t, lines.Err())
	return list
}

// Hostile keys are distinguished, even if letter case and Unicode forms are not, decode to the same
// key, stay inside of the folder and work as folders. CHATKEY_CASES names a file with more of them.
func TestST15ChatKeyCases(t *testing.T) {
	root := t.TempDir()
	accepted := 0
	fold := cases.Fold()
	seen := map[string]string{} // folded path to key
	for _, c := range keyCases(t) {
		folder, err := Encode(messages.ChatKey(c.Key))
		if err != nil {
			if c.Expect == "accept" || !errors.Is(err, messages.ErrChatKey) {
				t.Errorf("%s: %q is refused: %v", c.ID, c.Key, err)
			}
			continue
		}
		if back, err := Decode(folder); err != nil || string(back) != c.Key {
			t.Errorf("%s: %q came back as %q, %v", c.ID, c.Key, back, err)
		}
		same := norm.NFC.String(fold.String(norm.NFC.String(folder)))
		if other, ok := seen[same]; ok && other != c.Key {
			t.Errorf("%s: %q and %q share the folder %q", c.ID, c.Key, other, folder)
		}
		seen[same] = c.Key
		for component := range strings.SplitSeq(folder, "/") {
			if component == "" || component == "." || component == ".." || len(component) > 255 {
				t.Errorf("%s: component %q", c.ID, component)
			}
		}
		dir := filepath.Join(root, filepath.FromSlash(folder))
		if !strings.HasPrefix(dir, root+string(filepath.Separator)) || !filepath.IsLocal(filepath.FromSlash(folder)) {
			t.Errorf("%s: %q is outside of the folder", c.ID, dir)
		}
		if err := os.MkdirAll(filepath.Join(dir, "messages"), 0o700); err != nil {
			t.Errorf("%s: %v", c.ID, err)
		}
		accepted++
	}
	t.Logf("%d keys", accepted)
}

func FuzzKey(f *testing.F) {
	f.Add("telegram-chat-1", "Telegram-chat-1")
	f.Add(strings.Repeat("世界", 150), strings.Repeat("a", 198)+".")
	f.Add("%2e", ".")
	fold := cases.Fold()
	f.Fuzz(func(t *testing.T, one, two string) {
		var paths [2]string
		for i, key := range []string{one, two} {
			folder, err := Encode(messages.ChatKey(key))
			if err != nil {
				return
			}
			if back, err := Decode(folder); err != nil || string(back) != key {
				t.Fatalf("%q -> %q -> %q, %v", key, folder, back, err)
			}
			paths[i] = norm.NFC.String(fold.String(folder))
		}
		if (paths[0] == paths[1]) != (one == two) {
			t.Fatalf("%q and %q: %q and %q", one, two, paths[0], paths[1])
		}
		if key, err := Decode(one); err == nil {
			if again, err := Encode(key); err != nil || again != one {
				t.Fatalf("%q -> %q -> %q, %v", one, key, again, err)
			}
		}
	})
}
