package notices

// Text is what the host says to people by itself, in English and in Chinese.
type Text [2]string
