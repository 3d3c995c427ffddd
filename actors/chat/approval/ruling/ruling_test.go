package ruling

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/shipmyagent/shipmyagent/actors/chat/approval"
	"github.com/shipmyagent/shipmyagent/actors/chat/approval/grants"
	"github.com/shipmyagent/shipmyagent/actors/internal/approval/bind"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
)

func request(n int, command string) journal.Asked {
	var a journal.Asked
	a.Request.ID, a.Request.N, a.Request.Command = string(rune('a'+n-1)), n, command
	return a
}

// of is a request of a tool for a file.
func of(n int, tool, path string) journal.Asked {
	a := request(n, "")
	a.Request.CallID = "c"
	a.Turn.Parts = []uimessage.Part{uimessage.Tool{Name: tool, ToolCallID: "c", Input: json.RawMessage(`{"path":"` + path + `"}`)}}
	return a
}

// The model chooses the paths of its calls. One that reads like the command or the path of another call names no call of
// another tool.
func TestNamesOfOtherTools(t *testing.T) {
	open := []journal.Asked{request(1, "git status"), of(2, "mail__send", "git status"), of(3, "write_file", "x.md"), of(4, "mail__send", "x.md"), of(5, "edit_file", "y.md")}
	all := bind.Bound{List: approval.IDsOf(open), Seen: approval.IDsOf(open)}
	for text, want := range map[string]string{"approve git status": "a", "同意 x.md": "", "approve y.md": "e", "approve 2": "b", "approve 3 and 4": "c d"} {
		v := Of(Message{Text: text, Words: true, ToBot: true, Open: open, Theirs: open, About: all})
		if got := strings.Join(approval.IDsOf(v.Those), " "); got != want {
			t.Errorf("%q decides %q, want %q", text, got, want)
		}
	}
}

// A name that several requests share decides about none of them. A name that reads like a number is not taken for a name:
// people mean the request with that number, which may have ended.
func TestNamesOfSeveral(t *testing.T) {
	open := []journal.Asked{request(2, "rm -r build"), request(3, "rm -r build"), of(4, "write_file", "a.txt"), of(5, "write_file", "a.txt"), of(6, "write_file", "1"), of(7, "write_file", "#1"), of(8, "write_file", "first")}
	all := bind.Bound{List: approval.IDsOf(open), Seen: approval.IDsOf(open)}
	for text, want := range map[string]string{
		"approve rm -r build": "", "approve `rm -r build`": "", "同意 a.txt": "", "approve `a.txt`, `rm -r build`": "", "approve 1": "", "approve #1": "", "approve 1 and 2": "",
		"同意第1个": "b", "approve first": "", "approve the first one": "b", "只批准第二个和第三个": "", "同意第八个": "h",
		"approve #2": "b", "approve #4": "d", "approve #2 and #3": "b c", "approve `1`": "f", "approve `first`": "h", "deny all": "b c d e f g h",
	} {
		v := Of(Message{Text: text, Words: true, ToBot: true, Open: open, Theirs: open, About: all})
		if got := strings.Join(approval.IDsOf(v.Those), " "); got != want {
			t.Errorf("%q decides %q, want %q", text, got, want)
		}
	}
}

func TestOf(t *testing.T) {
	open := []journal.Asked{request(1, "ls x"), request(2, "rm y")}
	all := bind.Bound{List: []string{"a", "b"}, Seen: []string{"a", "b"}}
	first := bind.Bound{Answers: true, List: []string{"a"}, Seen: []string{"a"}}
	yes := func() bool { return true }
	tests := []struct {
		name  string
		m     Message
		sense Sense
		those string
	}{
		{"a number", Message{Text: "approve 2", Open: open, Theirs: open, About: all}, Decide, "b"},
		{"a command", Message{Text: "/deny 1", Open: open, Theirs: open, About: all}, Decide, "a"},
		{"a reply to the row of one", Message{Text: "/approve", Open: open, Theirs: open, About: first}, Decide, "a"},
		{"a command without a number", Message{Text: "/approve", Open: open, Theirs: open, About: all}, NotClear, ""},
		{"a number that is not open", Message{Text: "/approve 3", Open: open, Theirs: open, About: all}, NotClear, ""},
		{"a number that has ended", Message{Text: "approve 1", Open: open[1:], Theirs: open[1:], About: bind.Bound{List: []string{"b"}, Seen: []string{"a", "b"}}}, Unbound, ""},
		{"a request that was not shown before", Message{Text: "approve 2", Open: open, Theirs: open, About: first}, Unbound, ""},
		{"a reply to something else", Message{Text: "yes", Open: open[:1], Theirs: open[:1], About: bind.Bound{Stray: true}}, Unbound, ""},
		{"a command of somebody else", Message{Text: "/approve 1", Open: open}, Forbid, ""},
		{"an approval of one's own", Message{Text: "/approve 1", Open: open, Own: open}, Forbid, ""},
		{"a denial of one's own", Message{Text: "/deny 1 a mistake", Open: open, Own: open}, Decide, "a"},
		{"a denial of all of one's own", Message{Text: "/deny all", Open: open, Own: open[1:]}, Decide, "b"},
		{"a denial of the only one of one's own", Message{Text: "/deny", Open: open, Own: open[1:]}, Decide, "b"},
		{"a denial of one of two", Message{Text: "/deny", Open: open, Own: open}, Forbid, ""},
		{"a denial of somebody else's", Message{Text: "/deny 1", Open: open, Own: open[1:]}, Forbid, ""},
		{"a denial of somebody else's, too", Message{Text: "/deny 1 2", Open: open, Own: open[1:]}, Forbid, ""},
		{"words about one's own", Message{Text: "no", Open: open, Own: open}, None, ""},
		{"a command while nothing is open", Message{Text: "/approve 1"}, NotClear, ""},
		{"words of somebody else", Message{Text: "approve 1", Open: open}, None, ""},
		{"words of a possible administrator", Message{Text: "approve 1", Open: open, Unknown: yes}, Unknown, ""},
		{"other words of a possible administrator", Message{Text: "What is open?", Open: open, Unknown: yes}, None, ""},
		{"other words", Message{Text: "What is open?", Open: open, Theirs: open, About: all}, None, ""},
		{"a yes to two", Message{Text: "ok", Open: open, Theirs: open, About: all}, Undecided, ""},
		{"a yes to two after other words of the bot", Message{Text: "ok", Open: open, Theirs: open, About: bind.Bound{Seen: all.Seen}}, Undecided, ""},
		{"a no with more words", Message{Text: "no, not now", Open: open[:1], Theirs: open[:1], About: bind.Bound{List: []string{"a"}, Seen: []string{"a"}}}, Undecided, ""},
		{"such words after other words of the bot", Message{Text: "no, not now", Open: open[:1], Theirs: open[:1], About: bind.Bound{Seen: []string{"a"}}}, None, ""},
		{"a yes to two that were not shown", Message{Text: "ok", Open: open, Theirs: open}, None, ""},
		{"a yes to two of somebody else", Message{Text: "ok", Open: open, About: all}, None, ""},
		{"a yes to two that replies to something else", Message{Text: "ok", Open: open, Theirs: open, About: bind.Bound{Stray: true, Seen: all.Seen}}, None, ""},
		{"the list", Message{Text: "/approvals"}, List, ""},
		{"an order to revoke", Message{Text: "/approvals revoke g1"}, Revoke, ""},
		{"a folder of no file", Message{Text: "/approve 1 folder", Open: open, Theirs: open, About: all}, NotClear, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.m.Words, tt.m.ToBot = true, true
			v := Of(tt.m)
			if those := strings.Join(approval.IDsOf(v.Those), " "); v.Sense != tt.sense || those != tt.those {
				t.Errorf("%q: sense %d about %q, want %d about %q", tt.m.Text, v.Sense, those, tt.sense, tt.those)
			}
			tt.m.Words = false
			if v := Of(tt.m); !strings.HasPrefix(tt.m.Text, "/") && v.Sense != None {
				t.Errorf("%q means %d where words decide nothing", tt.m.Text, v.Sense)
			}
		})
	}
}

// A folder is allowed only with all of the requests that are approved.
func TestFolders(t *testing.T) {
	files := request(1, "")
	files.Request.FilesIn = "docs"
	open := []journal.Asked{files, request(2, "rm y")}
	m := Message{
		Open: open, Theirs: open, About: bind.Bound{List: []string{"a", "b"}, Seen: []string{"a", "b"}},
		Terms: grants.Terms{ID: "i", At: grants.Clock{Now: time.Unix(1e9, 0)}},
	}
	m.Text = "/approve 1 folder"
	if v := Of(m); v.Sense != Grant || !v.Order.Folder || !v.Approves || !slices.Equal(approval.IDsOf(v.Those), []string{"a"}) {
		t.Errorf("one folder: %+v", v)
	}
	m.Text = "/approve all folder"
	if v := Of(m); v.Sense != NotClear {
		t.Errorf("a folder for a request without files: %+v", v)
	}
	m.Text, m.Terms.Off = "/approve 1 folder", true
	if v := Of(m); v.Sense != NotClear {
		t.Errorf("a folder where nothing can be allowed for a time: %+v", v)
	}
}
