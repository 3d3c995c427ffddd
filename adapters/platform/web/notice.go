package web

import (
	"slices"

	"github.com/shipmyagent/shipmyagent/adapters/platform/web/internal/respond"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/messages/uistream"
)

// anew ends the stream of a reader who has obsolete text. For clients of the AI SDK it ends with an
// error: useChat treats a stream that breaks off as a lost connection, and appends what it resumes
// to the old text. For others the stream is cut.
func (s *stream) anew() error {
	rec, ok := s.w.(*respond.Recorder)
	if !ok || !rec.Style.Sentence {
		return errCut
	}
	words := "The model's answer broke off and is being written anew. Load the chat again to see it."
	if rec.Style.Chinese {
		words = "模型的回答中途断开，正在重新生成。请刷新聊天查看。"
	}
	return s.end(uistream.Error{ErrorText: words}, uistream.Finish{Reason: uistream.FinishError})
}

// shown returns messages as people read them: those of failed runs end with the sentence that says
// so, as in the stream.
func shown(list []uimessage.Message) []uimessage.Message {
	out := make([]uimessage.Message, len(list))
	for i, m := range list {
		meta, _ := uimessage.DecodeMetadata(m.Metadata) // foreign metadata has no notice
		if words := meta.Notice(); words != "" {
			m.Parts = append(slices.Clip(m.Parts), uimessage.Text{Text: words, State: uimessage.TextDone})
		}
		out[i] = m
	}
	return out
}
