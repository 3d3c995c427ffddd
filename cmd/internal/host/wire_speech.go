package host

import (
	"reflect"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
	speechtools "github.com/shipmyagent/shipmyagent/adapters/tool/speech"
	"github.com/shipmyagent/shipmyagent/cmd/internal/query"
	"github.com/shipmyagent/shipmyagent/config"
	"github.com/shipmyagent/shipmyagent/messages"
)

// replaceSpeech makes recordings and texts go where changed settings want them. If that is not possible, it returns
// false, and puts the previous settings of speech in place of the changed ones.
func (h *Host) replaceSpeech(s *config.Settings) bool {
	before := h.settings().Speech
	if reflect.DeepEqual(before, s.Speech) {
		return true
	}
	spoken, err := h.voices.Tools(s.Speech)
	if err == nil {
		err = h.tools.offer(func(b *toolbox) { b.spoken = spoken })
	}
	if h.reloads.News("speech", err) && err != nil {
		h.log.Warn("the changed settings of speech cannot be used; the previous ones stay in effect", "error", err)
	}
	if err != nil {
		s.Speech = before
	}
	return err == nil
}

// voiceWay is how recordings are delivered to the people of a chat.
func (h *Host) voiceWay(key messages.ChatKey) speechtools.Way {
	p := h.ports[query.BotOf(key)] // filled before the first message, not changed afterwards
	if p == nil || !p.adapter.Outbox {
		return speechtools.WayHere
	}
	switch caps := p.platform.Capabilities(); {
	case caps.Sends(platform.FileVoice):
		return speechtools.WayVoice
	case caps.Sends(platform.FileAudio):
		return speechtools.WayFile
	}
	return speechtools.WayText
}
