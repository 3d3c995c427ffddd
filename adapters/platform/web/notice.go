package web

import (
	"slices"

	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/messages/uistream"
)

// anew ends the stream of a reader who has words that are void. For clients of the AI
// SDK it ends with an error: useChat takes a stream that breaks off for a lost
// connection, and adds what it resumes to the words that it has. For others it is cut.
func (s *stream) anew() error {
	rec, ok := s.w.(*recorder)
	if !ok || !rec.style.sentence {
		return errCut
	}
	words := "The model's answer broke off and is being written anew. Load the chat again to see it."
	if rec.style.chinese {
		words = "模型的回答中途断开，正在重新生成。请刷新聊天查看。"
	}
	if err := s.chunks([]uistream.Chunk{uistream.Error{ErrorText: words}, uistream.Finish{Reason: uistream.FinishError}}); err != nil {
		return err
	}
	return s.text(uistream.Done)
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
			m.Parts = append(slices.Clip(m.Parts), uimessage.Text{Text: words, State: uimessage.TextDone})
		}
		out[i] = m
	}
	return out
}
