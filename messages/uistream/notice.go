package uistream

// NoticeID is the id of the text in which the host says how a run ended. Texts of models
// have other ids.
const NoticeID = "host-notice"

// Notice shows such a sentence as text of the message. Clients lose an error when their
// page is reloaded, and show none for an answer that is only incomplete.
func Notice(sentence string) []Chunk {
	return []Chunk{TextStart{ID: NoticeID}, TextDelta{ID: NoticeID, Delta: sentence}, TextEnd{ID: NoticeID}}
}
