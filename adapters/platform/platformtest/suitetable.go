package platformtest

import (
	"strings"
	"testing"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
)

// behaviour is a line of the suite's table: what a platform does, or, where it does not
// declare that, what there is instead. Every line is tried for every platform.
type behaviour struct {
	name string
	// declared tells whether the platform says that it does so; nil: every one has to.
	declared func(Harness) bool
	does     func(*testing.T, Harness)
	// instead says what people get where it is not declared, and without shows it.
	instead string
	without func(*testing.T, Harness)
}

func (h Harness) caps() platform.Capabilities { return h.Platform.Capabilities() }

// sends: messages are made by us, not read by people who follow the chat.
func (h Harness) sends() bool { return h.Answer == nil }

func types(h Harness) bool {
	_, ok := h.Platform.(platform.Typer)
	return ok
}

// table is what there is to show of every platform.
func table() []behaviour {
	return []behaviour{
		{name: "messages come in order, with all that the core needs", does: testIn},
		{name: "only what is durable is confirmed", does: testUnavailable},
		{name: "a message delivered again has its old id", does: testRepeat},
		{
			name: "edits have ids of their own", declared: func(h Harness) bool { return h.caps().Edits }, does: testEditIn,
			instead: "a message stays as it was first taken", without: testNoEditIn,
		},
		{
			name: "an outage loses nothing", declared: func(h Harness) bool { return h.Outage != nil }, does: testOutage,
			instead: "who brings messages does so again", without: testUnavailable,
		},
		{
			name: "threads are chats of their own", declared: func(h Harness) bool { return h.caps().Threads }, does: testTopics,
			instead: "all that is said belongs to the chat", without: testNoTopics,
		},
		{
			name: "what people speak comes as a voice", declared: func(h Harness) bool { return h.caps().VoiceIn }, does: testVoiceIn,
			instead: "people write, and nothing passes for a voice", without: testNoVoiceIn,
		},
		{
			name: "plans are pure, within the limit and complete", declared: Harness.sends, does: testPlan,
			instead: "a text of any length is read whole", without: testReads("# Title\n\n" + strings.Repeat("wörd 😀 **bold** `x<y` ", 5000) + "end"),
		},
		{
			name: "nothing to say is nothing to send", declared: Harness.sends, does: testPlanNothing,
			instead: "nothing to say is nothing to read", without: testReadNothing,
		},
		{
			name: "parts are shown in order", declared: Harness.sends, does: testSend,
			instead: "answers are read in order", without: testReads("one", "two < three", "four 😀"),
		},
		{
			name: "a draft is edited to the end", declared: func(h Harness) bool { return h.caps().Drafts }, does: testEditOut,
			instead: "people see the finished text alone, once", without: testFinishedOnly,
		},
		{
			name: "failures are told precisely", declared: Harness.sends, does: testTroubles,
			instead: "a reader who was cut off reads all of it", without: testReadAgain,
		},
		{
			name: "a wait that is asked for is told", declared: func(h Harness) bool { return h.caps().Rates != (platform.Rates{}) }, does: testLimited,
			instead: "nothing is held back", without: testNotLimited,
		},
		{
			name: "refused markup is sent as plain text", declared: Harness.sends, does: testBadMarkup,
			instead: "a text is handed on as it was written", without: testReads("**bold** <b>x</b> &amp; <script>alert(1)</script>\n```go\nx := \"`\"\n```"),
		},
		{
			name: "typing harms nobody", declared: types, does: testTyping,
			instead: "people see a text once it is there", without: testFinishedOnly,
		},
		{
			name: "requests are answered by buttons", declared: func(h Harness) bool { return h.caps().Buttons }, does: testButtons,
			instead: "requests are answered in words", without: testWords,
		},
		{
			name: "files are sent", declared: func(h Harness) bool { return len(h.caps().Files) > 0 }, does: testFiles,
			instead: "files are named in the text", without: testNamedFiles,
		},
		{
			name: "a voice is sent", declared: func(h Harness) bool { return h.caps().Sends(platform.FileVoice) }, does: testVoiceOut,
			instead: "a voice is written", without: testWrittenVoice,
		},
		{
			name: "people's messages are marked", declared: func(h Harness) bool { return h.caps().Reactions }, does: testMarks,
			instead: "nothing is marked", without: testNoMarks,
		},
		{name: "what is declared is so, and nothing else", does: testDeclared},
	}
}

// Run proves that a platform keeps the contract: each line of the table is either done,
// or its absence is declared and what people get instead is shown. harness is called
// for each line.
func Run(t *testing.T, harness func(t *testing.T) Harness) {
	t.Helper()
	for _, b := range table() {
		t.Run(b.name, func(t *testing.T) {
			h := harness(t)
			if b.declared == nil || b.declared(h) {
				b.does(t, h)
				return
			}
			t.Logf("declared absent: %s", b.instead)
			b.without(t, h)
		})
	}
}
