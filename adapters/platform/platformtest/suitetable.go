package platformtest

import (
	"strings"
	"testing"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
)

// behaviour is a row of the suite's table: something that a platform does, or the substitute if it does not declare it.
// Every row is tested on every platform.
type behaviour struct {
	name string
	// declared reports whether the platform declares the behaviour. It is nil if all platforms have to have it.
	declared func(Harness) bool
	does     func(*testing.T, Harness)
	// instead names the substitute where the behaviour is not declared, and without tests it.
	instead string
	without func(*testing.T, Harness)
}

func (h Harness) caps() platform.Capabilities { return h.Platform.Capabilities() }

// sends reports whether the platform sends messages, rather than having readers who follow the chat.
func (h Harness) sends() bool { return h.Answer == nil }

func types(h Harness) bool {
	_, ok := h.Platform.(platform.Typer)
	return ok
}

// table returns all behaviours.
func table() []behaviour {
	return []behaviour{
		{name: "messages come in order, with all that the core needs", does: testIn},
		{name: "only what is durable is confirmed", does: testUnavailable},
		{name: "a message delivered again has its old id", does: testRepeat},
		{
			name: "edits have ids of their own", declared: func(h Harness) bool { return h.caps().Edits }, does: testEditIn,
			instead: "a message stays as it was first accepted", without: testNoEditIn,
		},
		{
			name: "an outage loses nothing", declared: func(h Harness) bool { return h.Outage != nil }, does: testOutage,
			instead: "the client repeats the message", without: testUnavailable,
		},
		{
			name: "threads are chats of their own", declared: func(h Harness) bool { return h.caps().Threads }, does: testTopics,
			instead: "all messages belong to the chat", without: testNoTopics,
		},
		{
			name: "what people speak comes as a voice", declared: func(h Harness) bool { return h.caps().VoiceIn }, does: testVoiceIn,
			instead: "people write, and no text is taken for a voice message", without: testNoVoiceIn,
		},
		{
			name: "plans are pure, within the limit and complete", declared: Harness.sends, does: testPlan,
			instead: "a text of any length is shown whole", without: testReads("# Title\n\n" + strings.Repeat("wörd 😀 **bold** `x<y` ", 5000) + "end"),
		},
		{
			name: "nothing to say is nothing to send", declared: Harness.sends, does: testPlanNothing,
			instead: "an empty answer is not shown", without: testReadNothing,
		},
		{
			name: "parts are shown in order", declared: Harness.sends, does: testSend,
			instead: "answers are shown in order", without: testReads("one", "two < three", "four 😀"),
		},
		{
			name: "a draft is edited to the end", declared: func(h Harness) bool { return h.caps().Drafts }, does: testEditOut,
			instead: "people see only the finished text, once", without: testFinishedOnly,
		},
		{
			name: "failures are told precisely", declared: Harness.sends, does: testTroubles,
			instead: "a reader whose connection broke still gets every answer", without: testReadAgain,
		},
		{
			name: "a wait that is asked for is told", declared: func(h Harness) bool { return h.caps().Rates != (platform.Rates{}) }, does: testLimited,
			instead: "messages are sent without a pause", without: testNotLimited,
		},
		{
			name: "refused markup is sent as plain text", declared: Harness.sends, does: testBadMarkup,
			instead: "a text is passed on unchanged", without: testReads("**bold** <b>x</b> &amp; <script>alert(1)</script>\n```go\nx := \"`\"\n```"),
		},
		{
			name: "typing harms nobody", declared: types, does: testTyping,
			instead: "people see a text when it is finished", without: testFinishedOnly,
		},
		{
			name: "requests are answered by buttons", declared: func(h Harness) bool { return h.caps().Buttons }, does: testButtons,
			instead: "requests are decided in words", without: testWords,
		},
		{
			name: "files are sent", declared: func(h Harness) bool { return len(h.caps().Files) > 0 }, does: testFiles,
			instead: "files are named in the text", without: testNamedFiles,
		},
		{
			name: "a voice is sent", declared: func(h Harness) bool { return h.caps().Sends(platform.FileVoice) }, does: testVoiceOut,
			instead: "a spoken answer is sent as text", without: testWrittenVoice,
		},
		{
			name: "people's messages are marked", declared: func(h Harness) bool { return h.caps().Reactions }, does: testMarks,
			instead: "messages get no reaction", without: testNoMarks,
		},
		{name: "what is declared is so, and nothing else", does: testDeclared},
	}
}

// Run tests that a platform keeps the contract: it has each behaviour of the table, or does not declare it and has the
// substitute. harness is called for each row.
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
