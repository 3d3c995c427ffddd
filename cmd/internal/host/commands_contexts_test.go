package host

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/shipmyagent/shipmyagent/cmd/internal/commands"
	"github.com/shipmyagent/shipmyagent/config"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

// The setting removes both the tools and the commands.
func TestContextsEnabled(t *testing.T) {
	for _, on := range []bool{true, false} {
		loaded := &config.Loaded{}
		loaded.Settings.Context.Contexts.Enabled = on
		h := &Host{}
		h.opts.Settings = loaded
		var names []string
		for _, c := range h.contextTools() {
			names = append(names, c.Spec().Name)
		}
		words := slices.DeleteFunc(commands.Names(on), func(name string) bool { return slices.Contains(commands.Names(false), name) })
		var wantNames, wantWords []string
		if on {
			wantNames = []string{"chat_context_new", "chat_context_clear_active", "chat_context_list", "chat_context_load", "chat_context_recall"}
			wantWords = []string{"new", "contexts", "load"}
		}
		stdtest.Diff(t, fmt.Sprintf("%v: tools", on), wantNames, names)
		if strings.Join(words, " ") != strings.Join(wantWords, " ") {
			t.Errorf("%v: commands %q", on, words)
		}
	}
}
