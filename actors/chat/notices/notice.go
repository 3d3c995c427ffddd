package notices

// Text is a notice to people, in English and Chinese.
type Text [2]string

// And returns a notice followed by words that are the same in both languages.
func (t Text) And(words string) Text { return Text{t[0] + words, t[1] + words} }
