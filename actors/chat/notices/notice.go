package notices

// Text is a notice to people, in English and Chinese.
type Text [2]string
