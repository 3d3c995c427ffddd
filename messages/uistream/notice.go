package uistream

// NoticeID is the id of the text in which the host says how a run ended. No model gives
// one like it to its own texts.
const NoticeID = "host-notice"

// Notice shows such a sentence as words of the message, because clients forget an error
// when their page is loaded again, and show none for an answer that is only incomplete.
func Notice(sentence string) []Chunk {
	return []Chunk{TextStart{ID: NoticeID}, TextDelta{ID: NoticeID, Delta: sentence}, TextEnd{ID: NoticeID}}
}
