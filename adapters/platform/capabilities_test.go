package platform_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

func TestFit(t *testing.T) {
	asks := []messages.Ask{{N: 1, ApprovalID: "a"}}
	files := func(list ...platform.Attachment) platform.Outbound {
		return platform.Outbound{Text: "look", Attachments: list}
	}
	photo := platform.Attachment{Path: "/state/files/a`b.png", Kind: "photo", Caption: "a cat"}
	asDocument := photo
	asDocument.Kind = "document"
	voice := platform.Attachment{Path: "/state/files/v.ogg", Kind: "voice", Spoken: "good morning"}
	for _, c := range []struct {
		name string
		caps platform.Capabilities
		out  platform.Outbound
		want platform.Outbound
	}{
		{
			"all can go",
			platform.Capabilities{Buttons: true, Files: platform.FileKinds()},
			platform.Outbound{Text: "may I?", Asks: asks, Attachments: []platform.Attachment{photo, voice}},
			platform.Outbound{Text: "may I?", Asks: asks, Attachments: []platform.Attachment{photo, voice}},
		},
		{"words alone where there are no buttons", platform.Capabilities{}, platform.Outbound{Text: "may I?", Asks: asks}, platform.Outbound{Text: "may I?"}},
		{"a picture as a document", platform.Capabilities{Files: []string{"document"}}, files(photo), files(asDocument)},
		{
			"a kind that nobody knows is a document",
			platform.Capabilities{Files: []string{"document"}},
			files(platform.Attachment{Path: "x", Kind: "hologram"}), files(platform.Attachment{Path: "x", Kind: "hologram"}),
		},
		{"a voice in words, no file of it", platform.Capabilities{Files: []string{"document"}}, files(voice), platform.Outbound{Text: "look\n\ngood morning"}},
		{
			"named where no file can go, in order",
			platform.Capabilities{},
			files(photo, voice),
			platform.Outbound{Text: "look\n\n📎 a b.png\n\na cat\n\ngood morning"},
		},
		{
			"a file without words",
			platform.Capabilities{},
			platform.Outbound{Attachments: []platform.Attachment{{FileID: "F1", Kind: "video"}}},
			platform.Outbound{Text: "📎 video"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			before := append([]platform.Attachment(nil), c.out.Attachments...)
			got := c.caps.Fit(c.out)
			stdtest.Diff(t, "", c.want, got)
			if diff := cmp.Diff(before, append([]platform.Attachment(nil), c.out.Attachments...)); diff != "" {
				t.Errorf("what was handed over has changed:\n%s", diff)
			}
			if diff := cmp.Diff(got, c.caps.Fit(got)); diff != "" {
				t.Errorf("fitting it again changes it:\n%s", diff)
			}
		})
	}
}

// TestWordsNameEveryAbility checks that exactly the declared capabilities are listed.
func TestWordsNameEveryAbility(t *testing.T) {
	for word, caps := range map[string]platform.Capabilities{
		"texts of 4096 characters":          {MaxText: 4096},
		"texts of any length":               {},
		"drafts":                            {Drafts: true},
		"buttons":                           {Buttons: true},
		"buttons on cards":                  {Buttons: true, Cards: true},
		"threads":                           {Threads: true},
		"reactions":                         {Reactions: true},
		"edits":                             {Edits: true},
		"voice in":                          {VoiceIn: true},
		"voice out":                         {Files: []string{"voice"}},
		"files (photo, video)":              {Files: []string{"photo", "video"}},
		"1 message per second to a chat":    {Rates: platform.Rates{PerChat: platform.Rate{N: 1, Per: time.Second}}},
		"20 messages per minute to a group": {Rates: platform.Rates{PerGroup: platform.Rate{N: 20, Per: time.Minute}}},
		"30 messages per 1m30s to all":      {Rates: platform.Rates{PerSender: platform.Rate{N: 30, Per: 90 * time.Second}}},
	} {
		said := "; " + strings.Join(caps.Words(), "; ") + ";"
		if !strings.Contains(said, "; "+word+";") {
			t.Errorf("%+v: %s, want %q", caps, said, word)
		}
		if none := (platform.Capabilities{MaxText: 1}).Words(); len(none) != 1 {
			t.Errorf("a platform that can do nothing: %q", none)
		}
	}
}
