package chinese

import (
	"encoding/json"
	"flag"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/shipmyagent/shipmyagent/config/packed/packedtest"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

var update = flag.Bool("update", false, "pack the words")

func TestWordsArePacked(t *testing.T) {
	text := stdtest.Read(t, "words.json")
	packedtest.Check(t, "words.json.gz", text, *update)
	var all map[string]string
	stdtest.Must(t, json.Unmarshal(text, &all))
	w, verb := Read(), regexp.MustCompile(`%[a-z]`)
	for english, chinese := range all {
		if got := w.Of(verb.ReplaceAllString(english, "X1")); strings.Contains(got, "%!") {
			t.Errorf("%q and %q do not have the same verbs", english, chinese)
		}
	}
}

// What failed, what helps, and what doctor finds is in both languages.
func TestTextsAreInChinese(t *testing.T) {
	w := Read()
	for _, text := range textsOf(t, "..", "../../checkup", "../../host", "../../platforms") {
		if !isCommand(text) && !inChinese(w.Of(strings.ReplaceAll(text, "%s", "X1"))) {
			t.Errorf("words.json lacks %q", text)
		}
	}
}

// isCommand reports whether a text has no words for people.
func isCommand(text string) bool {
	first, rest, _ := strings.Cut(text, " ")
	switch first {
	case "sma", "sudo", "mv", "chmod", "useradd", "EDITOR=vi", "--name", "--set":
		return !strings.Contains(rest, ", ")
	}
	return strings.TrimSpace(strings.NewReplacer("%s", "", " at ", "", " by ", "", ":", "", "--help", "").Replace(text)) == ""
}

// inChinese reports whether a text is Chinese: it has Chinese characters, and no English sentence but commands.
func inChinese(text string) bool {
	return strings.ContainsFunc(text, func(r rune) bool { return unicode.Is(unicode.Han, r) }) &&
		!regexp.MustCompile(`[a-z]+ [a-z]+ [a-z]+`).MatchString(strings.ReplaceAll(text, "sma config show", ""))
}

// Every finding about settings that a test of package config has is in both languages.
func TestFindingsAreInChinese(t *testing.T) {
	w := Read()
	files, err := filepath.Glob("../../../../config/testdata/*/*.want")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		text := stdtest.Read(t, file)
		for line := range strings.Lines(string(text)) {
			severity, finding, _ := strings.Cut(strings.TrimSpace(line), " ")
			if got := w.Of(finding); (severity == "error" || severity == "warning") && !inChinese(got) {
				t.Errorf("%s: %s\n%s", filepath.Base(file), finding, got)
			}
		}
	}
}

// What a service or a file says takes no time to look through.
func TestOfLongTexts(t *testing.T) {
	w, began := Read(), time.Now()
	for _, text := range []string{strings.Repeat("a: ", 1e6), strings.Repeat("the log cannot be read: ", 80), strings.Repeat("c: sound (1 turn, 2 records)\n", 1e4)} {
		w.Of(text)
	}
	if took := time.Since(began); took > 20*time.Second {
		t.Errorf("three long texts take %s", took)
	}
}

func TestOf(t *testing.T) {
	for english, want := range map[string]string{
		"": "", "hello": "hello",
		"the log cannot be read: open /x: permission denied":                      "无法读取日志：open /x: 没有权限",
		"a-chat: sound (1 turn, 3 records)\nthere are no chats\n":                 "a-chat：完好（1 条消息，3 条记录）\n没有聊天\n",
		"  ship.json:3:5: unknown key \"modell\" in llm; did you mean \"model\"?": "  ship.json:3:5: llm 中没有设置项 \"modell\"；是否想写 \"model\"？",
		"commands are refused: one; two":                                          "命令会被拒绝：one; two",
		"--set a; b: c has not the form key=value":                                "--set a; b: c has not the form key=value",
		"there is no folder x":                                                    "没有文件夹 x",
	} {
		if got := Read().Of(english); got != want {
			t.Errorf("%q is %q, want %q", english, got, want)
		}
	}
}
