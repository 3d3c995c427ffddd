package checkup

import (
	"strings"
	"testing"

	"github.com/shipmyagent/shipmyagent/config"
)

func TestDoctorOnSpeech(t *testing.T) {
	for name, c := range map[string]struct {
		s    config.Speech
		mark Mark
		says string
	}{
		"off":     {config.Speech{}, OK, "stay files"},
		"a model": {config.Speech{Transcribe: config.Transcribe{Model: "whisper-1", BaseURL: "https://x.example/v1", Language: "zh"}}, OK, "whisper-1 at https://x.example/v1, mostly in zh"},
		"program": {config.Speech{Transcribe: config.Transcribe{Command: []string{"sh", "-c", "x"}}}, OK, "by sh"},
		"missing": {config.Speech{Transcribe: config.Transcribe{Command: []string{"there-is-no-such-program"}}}, Fail, "cannot be run"},
	} {
		found := Speech(c.s)
		if len(found) != 2 || found[0].Mark != c.mark || !strings.Contains(found[0].Fact, c.says) || found[1].Fact != "answers are written only" {
			t.Errorf("%s: %+v", name, found)
		}
	}
}
