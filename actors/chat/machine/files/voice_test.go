package files

import (
	"testing"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
)

// Versions of a message are compared by what their sender chose, not by what was added since.
func TestSame(t *testing.T) {
	text := func(s string) uimessage.Part { return uimessage.Text{Text: s} }
	photo := platform.File{Kind: "photo", FileID: "f1", Unique: "u1"}
	kept, other, answered := photo, photo, photo
	kept.Path, other.Unique, answered.Answered = "results/x.jpg", "u2", true
	sent := []uimessage.Part{text("[photo]"), photo.Part(), text("what is this")}
	for name, c := range map[string]struct {
		now  []uimessage.Part
		want bool
	}{
		"the same":        {sent, true},
		"since fetched":   {[]uimessage.Part{text("[photo]"), kept.Part(), text("what is this")}, true},
		"as a reply":      {append([]uimessage.Part{text("[photo of the message that this one answers]"), answered.Part()}, sent...), true},
		"another caption": {[]uimessage.Part{text("[photo]"), photo.Part(), text("what was this")}, false},
		"another photo":   {[]uimessage.Part{text("[photo]"), other.Part(), text("what is this")}, false},
		"a checklist":     {[]uimessage.Part{text("[checklist a]\n- b")}, false},
	} {
		if got := Same(sent, c.now); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
