package actors_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/shipmyagent/shipmyagent/actors/actortest"
	"github.com/shipmyagent/shipmyagent/actors/chat/notices"
	"github.com/shipmyagent/shipmyagent/adapters/model/modeltest"
	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/adapters/tool"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

// printing is a tool whose output depends on the text of its input.
func printing(says func(text string) string) tool.Tool {
	return actortest.Func{Says: tool.Spec{Name: "print"}, Do: func(_ context.Context, call tool.Call) (tool.Result, error) {
		var in struct{ Text string }
		if err := json.Unmarshal(call.Input, &in); err != nil {
			return tool.Result{}, err
		}
		return tool.Result{Output: json.RawMessage(says(in.Text)), Summary: "printed"}, nil
	}}
}

func plain(text string) string {
	out, _ := json.Marshal(text) // a string encodes
	return string(out)
}

// outputWorld has a model that prints each text, one a message.
func outputWorld(t *testing.T, caps platform.Capabilities, says func(string) string, texts ...string) (*actortest.World, *actortest.Files) {
	t.Helper()
	var steps []modeltest.Step
	for i, text := range texts {
		steps = append(steps, modeltest.CallTools(modeltest.Call{ID: fmt.Sprintf("c%d", i), Name: "print", Input: fmt.Sprintf(`{"text":%q}`, text)}), modeltest.Say("done"))
	}
	files := &actortest.Files{}
	o := actortest.Options{
		Store: newStore(t), Model: modeltest.NewScript(steps...), Tools: actortest.Tools(printing(says)), Platform: &actortest.Platform{Caps: caps},
	}
	o.Chat.Files = files
	o.Chat.Mask = func(text string) string { return strings.ReplaceAll(text, "hunter2", "********") }
	return actortest.New(t, o), files
}

// numbered is a text of so many bytes and its number of lines.
func numbered(bytes int) string {
	var b strings.Builder
	for n := 0; b.Len() < bytes; n++ {
		fmt.Fprintf(&b, "line %06d\n", n)
	}
	return b.String()
}

// People who ask for a whole output get it as a file without secrets, or as a message if it fits into one.
func TestOutputAsAFile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		long := numbered(9000) + "hunter2\n"
		w, files := outputWorld(t, platform.Capabilities{Outbox: true, MaxText: 4096}, plain, long, "short\n")
		for range 2 {
			w.Say(alice, "alice", "print it")
			w.Wait()
		}
		for _, tt := range []struct{ order, want string }{
			{"/output", "Output of `print`, 6 bytes:\n```\nshort\n```"},
			{"/output 2", fmt.Sprintf("Output of `print`, %d bytes:", len(long)+1)}, // the mask is longer
			{"/output 3", "This conversation has no such tool output. /output sends that of the last tool that I used, /output 2 that of the one before it."},
			{"/output of it", "Send /output for the whole output of the last tool that I used, or /output 2 for the one before it."},
		} {
			w.Say(alice, "alice", tt.order)
			w.Wait()
			texts := w.Platform.Texts(alice)
			stdtest.Diff(t, tt.order, tt.want, texts[len(texts)-1])
		}
		got, _ := files.ReadFile(t.Context(), alice, "output-1.txt")
		if want := strings.ReplaceAll(long, "hunter2", "********"); string(got) != want {
			t.Errorf("the file has %d bytes, want %d without the secret", len(got), len(want))
		}
		v := w.View(alice)
		if v.Counts.Open != 0 || v.Counts.Fates["answered"] != 6 || len(v.Messages) != 4 {
			t.Errorf("counts %+v and %d messages; want 6 answered, 4 messages", v.Counts, len(v.Messages))
		}
	})
}

// Where files cannot be sent, a whole output is sent in pages.
func TestOutputInPages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		long := numbered(40_000)
		w, files := outputWorld(t, platform.Capabilities{Outbox: true, MaxText: 4096, Files: []string{}}, plain, long)
		w.Say(alice, "alice", "print it")
		w.Wait()
		before := len(w.Platform.Texts(alice))
		for _, words := range []string{"/output", "continue", "continue", "continue"} {
			w.Say(alice, "alice", words)
			w.Wait()
		}
		seen := strings.Join(w.Platform.Texts(alice)[before:], "")
		for n := range strings.Count(long, "\n") {
			if want := fmt.Sprintf("line %06d", n); strings.Count(seen, want) != 1 {
				t.Fatalf("%q is there %d times", want, strings.Count(seen, want))
			}
		}
		if got, _ := files.ReadFile(t.Context(), alice, "output-1.txt"); len(got) > 0 {
			t.Error("a file was made")
		}
	})
}

// Without an outbox, readers get the first page with the answer, and ask for each further one.
func TestOutputPageByPage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, _ := outputWorld(t, platform.Capabilities{}, plain, numbered(20_000))
		w.Say(alice, "alice", "print it")
		w.Wait()
		for _, tt := range []struct {
			order string
			want  []string
		}{
			{"/output", []string{"line 000000\n", "(page 1 of 3; /output 1 2 shows the next one)"}},
			{"/output 1 3", []string{"line 001600\n", "(page 3 of 3)"}},
			{"/output 1 4", []string{"The output of `print` has 3 pages."}},
		} {
			answer := w.Say(alice, "alice", tt.order).Answer
			for _, want := range tt.want {
				if !strings.Contains(answer, want) {
					t.Errorf("%s: %q is not in %q", tt.order, want, answer)
				}
			}
			w.Wait()
		}
	})
}

// A result that was too large for the model is read from where it is stored. One that is too large for people is
// refused with the reason, and for one that no longer exists people get a notice.
func TestOutputKeptElsewhere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kept := func(pointer string) string {
			return fmt.Sprintf(`{"exitCode":0,"output":{"truncated":true,"bytes":9,"head":"h","tail":"t","whole":%q,"note":"n"}}`, pointer)
		}
		w, files := outputWorld(t, platform.Capabilities{Outbox: true, MaxText: 4096}, kept, "gone", "huge", "json", "good")
		whole := numbered(5000)
		w = w.Again(func(o *actortest.Options) {
			o.Chat.Whole = func(key messages.ChatKey, pointer string) (string, int64, error) {
				switch pointer {
				case "good":
					return whole, int64(len(whole)), nil
				case "json":
					return `{"lines":[1,2]}`, 15, nil
				case "huge":
					return "", notices.MaxOutput + 1, nil
				}
				return "", 0, fmt.Errorf("%s has no %q", key, pointer)
			}
		})
		for range 4 {
			w.Say(alice, "alice", "print it")
			w.Wait()
		}
		for n, want := range []string{
			fmt.Sprintf("Output of `print`, %d bytes:", len(whole)), "lines:\n  - 1\n  - 2",
			"has 4194305 bytes; at most 4194304 can be sent", "cannot be read any more",
		} {
			w.Say(alice, "alice", fmt.Sprintf("/output %d", n+1))
			w.Wait()
			texts := w.Platform.Texts(alice)
			if got := texts[len(texts)-1]; !strings.Contains(got, want) {
				t.Errorf("output %d: got %q, want %q", n+1, got, want)
			}
		}
		if got, _ := files.ReadFile(t.Context(), alice, "output-1.txt"); string(got) != whole {
			t.Errorf("the file has %d bytes, want %d", len(got), len(whole))
		}
	})
}

// In a group, people get only the outputs that their own messages caused.
func TestPI6OutputOfOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const group = messages.ChatKey("telegram-chat--7")
		w, _ := outputWorld(t, platform.Capabilities{Outbox: true, MaxText: 4096}, plain, "for alice", "for bob")
		for _, tt := range []struct{ who, words, want string }{
			{"alice", "print it", "done"},
			{"bob", "/output", "This conversation has no such tool output"},
			{"bob", "print it", "done"},
			{"bob", "/output", "for bob"},
			{"alice", "/output", "for alice"},
			{"alice", "/output 2", "This conversation has no such tool output"},
			{"", "/output", "This conversation has no such tool output"},
		} {
			w.Say(group, tt.who, tt.words)
			w.Wait()
			texts := w.Platform.Texts(group)
			if got := texts[len(texts)-1]; !strings.Contains(got, tt.want) {
				t.Errorf("%s says %q and reads %q, want %q", tt.who, tt.words, got, tt.want)
			}
		}
	})
}

// A command has no language: it is answered in the language of the earlier messages.
func TestOrdersAreAnsweredInTheLanguageOfTheChat(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, tt := range []struct{ words, want string }{{"hello", "I am not working on anything"}, {"你好", "现在没有"}} {
			w, _ := outputWorld(t, platform.Capabilities{Outbox: true, MaxText: 4096}, plain, "x")
			w.Say(alice, "alice", tt.words)
			w.Wait()
			w.Say(alice, "alice", "/stop")
			w.Wait()
			texts := w.Platform.Texts(alice)
			if got := texts[len(texts)-1]; !strings.Contains(got, tt.want) {
				t.Errorf("after %q the order is answered %q, want %q", tt.words, got, tt.want)
			}
		}
	})
}
