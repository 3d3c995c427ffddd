package cli

import (
	"os/exec"
	"strings"

	"github.com/shipmyagent/shipmyagent/config"
)

// checkSpeech says where voice messages go, and whether programs for them are there.
// No service is asked.
func checkSpeech(s config.Speech) []finding {
	t, k := s.Transcribe, s.Speak
	out := []finding{
		speechFinding("voice messages become text", "voice messages stay files: nothing turns them into text", t.Model, t.BaseURL, t.Command),
		speechFinding("answers can be spoken", "answers are written only", k.Model, k.BaseURL, k.Command),
	}
	if t.Language != "" {
		out[0].Fact += ", mostly in " + t.Language
	}
	return out
}

func speechFinding(on, off, model, baseURL string, command []string) finding {
	switch {
	case len(command) > 0:
		if _, err := exec.LookPath(command[0]); err != nil {
			return finding{"speech", markFail, command[0] + " cannot be run: " + strings.TrimPrefix(err.Error(), "exec: "), "install it, or write its whole path"}
		}
		return finding{"speech", markOK, on + " by " + command[0], ""}
	case model != "":
		return finding{"speech", markOK, on + " by " + model + " at " + baseURL, ""}
	}
	return finding{"speech", markOK, off, ""}
}
