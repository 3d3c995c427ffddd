package notices

// Text is a notice to people, in English and Chinese. Functions whose notices name commands take what follows the name of
// a command where the notice is read: nothing, or @ and the name of the bot.
type Text [2]string

// In returns the notice in Chinese or in English.
func (t Text) In(chinese bool) string {
	if chinese {
		return t[1]
	}
	return t[0]
}

// And returns a notice followed by words that are the same in both languages.
func (t Text) And(words string) Text { return Text{t[0] + words, t[1] + words} }
