package follow

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/messages/uistream"
)

func startFrame(id string, sees ...string) platform.Frame {
	return platform.Frame{Kind: platform.FrameStart, MessageID: id, Sees: sees}
}

func chunkFrame(id string, list ...uistream.Chunk) platform.Frame {
	return platform.Frame{Kind: platform.FrameChunks, MessageID: id, Chunks: list}
}

func endFrame(id string, settled ...string) platform.Frame {
	return platform.Frame{Kind: platform.FrameEnd, MessageID: id, Last: true, Settled: settled}
}

// said is a step that has text and has not ended.
func said(text string) []uistream.Chunk {
	return []uistream.Chunk{uistream.StartStep{}, uistream.TextStart{ID: "t"}, uistream.TextDelta{ID: "t", Delta: text}}
}

func replayOf(id string, list ...uistream.Chunk) platform.Frame {
	f := startFrame(id)
	f.Chunks, f.Replay = append([]uistream.Chunk{uistream.Start{}}, list...), true
	return f
}

func TestFollower(t *testing.T) {
	replay := startFrame("a1", "u1")
	replay.Replay = true
	replay.Chunks = []uistream.Chunk{uistream.Start{Metadata: json.RawMessage(`{"demo":true}`)}, uistream.StartStep{}}
	finish := uistream.Finish{Reason: uistream.FinishStop}
	tests := []struct {
		name   string
		f      Follower
		frames []platform.Frame
		want   []string
		end    Verdict
	}{
		{
			"waits through another message",
			Follower{Turn: "u2"},
			[]platform.Frame{
				startFrame("a1", "u1"), chunkFrame("a1", uistream.StartStep{}), endFrame("a1"),
				startFrame("a2", "u2", "u3"), chunkFrame("a2", uistream.StartStep{}), chunkFrame("a1", uistream.StartStep{}), endFrame("a2"),
			},
			[]string{"start a2", "start-step", "finish"},
			Ended,
		},
		{"takes the next message", Follower{}, []platform.Frame{startFrame("a7"), endFrame("a7")}, []string{"start a7", "finish"}, Ended},
		{"takes a replay of a named message", Follower{Message: "a1"}, []platform.Frame{replay, endFrame("a1")}, []string{"start a1", "start-step", "finish"}, Ended},
		{
			"holds the finish back until the end",
			Follower{Turn: "u1"},
			[]platform.Frame{startFrame("a1", "u1"), chunkFrame("a1", finish)},
			[]string{"start a1"},
			Continue,
		},
		{
			"tells that the run failed",
			Follower{Turn: "u1"},
			[]platform.Frame{startFrame("a1", "u1"), {Kind: platform.FrameEnd, MessageID: "a1", Last: true, Result: "failed"}},
			[]string{"start a1", "error", "finish"},
			Ended,
		},
		{
			"tells a failure once",
			Follower{Turn: "u1"},
			[]platform.Frame{
				startFrame("a1", "u1"), chunkFrame("a1", uistream.Error{ErrorText: "known already"}),
				{Kind: platform.FrameEnd, MessageID: "a1", Last: true, Result: "interrupted"},
			},
			[]string{"start a1", "text-start", "text-delta", "text-end", "error", "finish"},
			Ended,
		},
		{
			"ends the blocks that a stopped run leaves open",
			Follower{Turn: "u1"},
			[]platform.Frame{startFrame("a1", "u1"), chunkFrame("a1",
				uistream.ReasoningStart{ID: "r"}, uistream.ReasoningEnd{ID: "r"}, uistream.ReasoningStart{ID: "s"},
				uistream.TextStart{ID: "r"}, uistream.TextStart{ID: "t"}, uistream.TextEnd{ID: "t"}), endFrame("a1")},
			[]string{
				"start a1", "reasoning-start", "reasoning-end", "reasoning-start", "text-start", "text-start", "text-end",
				"reasoning-end", "text-end", "finish",
			},
			Ended,
		},
		{
			"sends one start and the metadata of the second",
			Follower{Turn: "u1"},
			[]platform.Frame{startFrame("a1", "u1"), chunkFrame("a1", uistream.Start{Metadata: json.RawMessage(`{}`)}, uistream.Start{}, finish), endFrame("a1")},
			[]string{"start a1", "message-metadata", "finish"},
			Ended,
		},
		{"cuts when words become void", Follower{Turn: "u1"}, []platform.Frame{startFrame("a1", "u1"), chunkFrame("a1", said("half")...), replay}, []string{"start a1", "start-step", "text-start", "text-delta"}, Void},
		{
			"goes on when a step that said nothing is asked for again",
			Follower{Turn: "u1"},
			[]platform.Frame{startFrame("a1", "u1"), chunkFrame("a1", uistream.StartStep{}), startFrame("a1"), chunkFrame("a1", said("whole")...), endFrame("a1")},
			[]string{"start a1", "start-step", "text-start", "text-delta", "text-end", "finish"},
			Ended,
		},
		{
			"goes on when another run continues the message",
			Follower{Turn: "u1"},
			[]platform.Frame{
				startFrame("a1", "u1"), chunkFrame("a1", said("one")...), chunkFrame("a1", uistream.TextEnd{ID: "t"}, uistream.FinishStep{}, finish),
				replayOf("a1", append(said("one"), uistream.TextEnd{ID: "t"})...), chunkFrame("a1", said("two")...), endFrame("a1"),
			},
			[]string{
				"start a1", "start-step", "text-start", "text-delta", "text-end", "finish-step",
				"start-step", "text-start", "text-delta", "text-end", "finish",
			},
			Ended,
		},
		{"goes on when nothing was told yet", Follower{Turn: "u1"}, []platform.Frame{startFrame("a1", "u1"), replay, endFrame("a1")}, []string{"start a1", "message-metadata", "start-step", "finish"}, Ended},
		{"ends when another begins", Follower{Turn: "u1"}, []platform.Frame{startFrame("a1", "u1"), startFrame("a2")}, []string{"start a1", "finish"}, Ended},
		{"sees its turn dropped", Follower{Turn: "u1"}, []platform.Frame{{Kind: platform.FrameSettled, Settled: []string{"u1"}}}, nil, Settled},
		{"sees another dropped", Follower{Turn: "u1"}, []platform.Frame{{Kind: platform.FrameSettled, Settled: []string{"u9"}}}, nil, Continue},
		{"sees its turn settled unseen", Follower{Turn: "u1"}, []platform.Frame{endFrame("a0", "u1")}, nil, Settled},
		{"sees the run end before any message", Follower{}, []platform.Frame{endFrame("a0")}, nil, Settled},
		{"waits while the run goes on after a message", Follower{}, []platform.Frame{{Kind: platform.FrameEnd, MessageID: "a0"}}, nil, Continue},
		{"waits for the message that it names", Follower{Message: "a2"}, []platform.Frame{startFrame("a1")}, nil, Continue},
		{"passes the end of another message by", Follower{Turn: "u1"}, []platform.Frame{startFrame("a1", "u1"), endFrame("a0")}, []string{"start a1"}, Continue},
		{
			"cuts when the message ends shorter than it was told",
			Follower{Turn: "u1"},
			[]platform.Frame{startFrame("a1", "u1"), chunkFrame("a1", uistream.StartStep{}), startFrame("a1"), endFrame("a1")},
			[]string{"start a1", "start-step"},
			Void,
		},
		{
			"cuts when the message goes on differently",
			Follower{Turn: "u1"},
			[]platform.Frame{
				startFrame("a1", "u1"), chunkFrame("a1", uistream.StartStep{}, uistream.TextStart{ID: "t"}),
				startFrame("a1"), chunkFrame("a1", uistream.StartStep{}, uistream.ReasoningStart{ID: "r"}, uistream.ReasoningDelta{ID: "r", Delta: "x"}),
			},
			[]string{"start a1", "start-step", "text-start"},
			Void,
		},
		{
			"cuts when words become void that came with another run",
			Follower{Turn: "u1"},
			[]platform.Frame{
				startFrame("a1", "u1"), chunkFrame("a1", said("one")...), replayOf("a1", said("one, two")...), replayOf("a1", said("one")...),
			},
			[]string{"start a1", "start-step", "text-start", "text-delta", "text-delta"},
			Void,
		},
		{"passes events by", Follower{}, []platform.Frame{{Kind: platform.FrameEvent}}, nil, Continue},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			how := Continue
			for _, fr := range tt.frames {
				var chunks []uistream.Chunk
				chunks, how = tt.f.Frame(fr)
				for _, c := range chunks {
					name := c.Type()
					if s, ok := c.(uistream.Start); ok {
						name += " " + s.MessageID.Value
					}
					got = append(got, name)
				}
			}
			if diff := cmp.Diff(tt.want, got); diff != "" || how != tt.end {
				t.Errorf("ended %d, want %d; chunks (-want +got):\n%s", how, tt.end, diff)
			}
		})
	}
}

// A run that fails while its message is shorter than what the reader has leaves that reader with obsolete words.
func TestFollowerKnowsWhatIsUntrue(t *testing.T) {
	f := Follower{Turn: "u1"}
	f.Frame(startFrame("a1", "u1"))
	f.Frame(chunkFrame("a1", uistream.StartStep{}))
	f.Frame(startFrame("a1"))
	_, how := f.Frame(platform.Frame{Kind: platform.FrameEnd, MessageID: "a1", Last: true, Result: "failed"})
	if how != Ended || !f.Untrue {
		t.Errorf("ended %d, untrue %v", how, f.Untrue)
	}
}

// A message that was started again may give its blocks new names: the reader still gets the block that it knows.
func TestFollowerKeepsTheNamesOfBlocks(t *testing.T) {
	f := Follower{Turn: "u1"}
	f.Frame(startFrame("a1", "u1"))
	f.Frame(chunkFrame("a1", said("one")...))
	f.Frame(replayOf("a1", uistream.StartStep{}, uistream.TextStart{ID: "x"}, uistream.TextDelta{ID: "x", Delta: "one"}))
	got, how := f.Frame(chunkFrame("a1", uistream.TextDelta{ID: "x", Delta: " two"}, uistream.TextEnd{ID: "x"}))
	want := []uistream.Chunk{uistream.TextDelta{ID: "t", Delta: " two"}, uistream.TextEnd{ID: "t"}}
	if diff := cmp.Diff(want, got); diff != "" || how != Continue {
		t.Errorf("verdict %d; chunks (-want +got):\n%s", how, diff)
	}
}

// A merged run, as seen by two posts and a resume: each stream alone rebuilds its message.
func TestFollowersRebuildMessages(t *testing.T) {
	text := func(id, s string) platform.Frame {
		return chunkFrame(id, uistream.StartStep{}, uistream.TextStart{ID: "t"}, uistream.TextDelta{ID: "t", Delta: s}, uistream.TextEnd{ID: "t"}, uistream.FinishStep{})
	}
	frames := []platform.Frame{
		startFrame("a1", "u1"), text("a1", "one"),
		{Kind: platform.FrameEnd, MessageID: "a1"},
		startFrame("a2", "u2"), text("a2", "two"), endFrame("a2", "u1", "u2"),
	}
	for turn, want := range map[string]string{"u1": "one", "u2": "two"} {
		f, r := Follower{Turn: turn}, uistream.NewReader(nil)
		for _, fr := range frames {
			chunks, how := f.Frame(fr)
			for _, c := range chunks {
				if _, err := r.Apply(c); err != nil {
					t.Fatal(err)
				}
			}
			if how == Ended {
				break
			}
		}
		m := r.Message()
		if got := textOf(m); got != want || m.ID != strings.Replace(turn, "u", "a", 1) || m.Role != uimessage.RoleAssistant {
			t.Errorf("turn %s: got %q in %s, want %q", turn, got, m.ID, want)
		}
	}
}

func textOf(m uimessage.Message) string {
	var texts []string
	for _, part := range m.Parts {
		if t, ok := part.(uimessage.Text); ok && t.Text != "" {
			texts = append(texts, t.Text)
		}
	}
	return strings.Join(texts, "\n\n")
}
