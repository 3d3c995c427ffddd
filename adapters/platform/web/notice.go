package web

import (
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/messages/uistream"
)

// noticeBlock is the id of the text that says why a run failed. No model gives one
// like it to its own texts.
const noticeBlock = "host-notice"

// noticeChunks show the sentence about a failed run as words of its message, because
// clients forget an error when their page is loaded again.
func noticeChunks(sentence string) []uistream.Chunk {
	return []uistream.Chunk{
		uistream.TextStart{ID: noticeBlock},
		uistream.TextDelta{ID: noticeBlock, Delta: sentence},
		uistream.TextEnd{ID: noticeBlock},
	}
}

// noticeOf is the sentence about the run of a message; empty: there is none.
func noticeOf(m uimessage.Message) string {
	meta, _ := uimessage.DecodeMetadata(m.Metadata) // metadata that is not ours has none
	return meta.Notice()
}

// shown are messages as people read them: those of failed runs end with the sentence
// that says so, where the stream has it.
func shown(list []uimessage.Message) []uimessage.Message {
	out := make([]uimessage.Message, len(list))
	for i, m := range list {
		if words := noticeOf(m); words != "" {
			m.Parts = append(m.Parts[:len(m.Parts):len(m.Parts)], uimessage.Text{Text: words, State: uimessage.TextDone})
		}
		out[i] = m
	}
	return out
}
