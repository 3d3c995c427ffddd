package memory

import (
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// orderWords are English words typical of orders to an assistant, as whole words, and orderPhrases
// are sequences of such words. orderStems are looked for anywhere, also across signs and blanks.
// The lists prefer false positives: a statement that is not remembered costs little.
const (
	orderWords = ` always never ignore ignores ignored disregard forget override overrule bypass obey comply follow henceforth must shall should ought
 whenever anytime remember ensure prompt prompts developer assistant bot ai approve approves approved approval approvals approving allow allows allowed
 permit permits permission permissions authorize authorise authorized authorised grant grants consent run runs execute executes exec command commands
 shell sudo eval tool tools admin administrator root system systems instruction instructions instruct you your yours u ur please pretend jailbreak `
	orderPhrases = `from now on|from then on|from here on|from today|from this moment|going forward|as of now|as of today|in future|in the future|for good|
no matter|if asked|when asked|if someone|if anyone|if somebody|when someone|when anyone|when somebody|each time|every time|any time|all times|
make sure|be sure|do not|dont|have to|has to|need to|needs to|only answer|agree to|say yes|answer yes|new rule|the rule|the rules|without asking`
	orderStems = `ignore|disregard|always|fromnowon|approve|authoriz|authoris|execut|instruction|systemprompt|whenever|henceforth|overrid|youmust|youshould|youshall`
	// orderVerbs start a sentence that tells the reader to do something.
	orderVerbs = ` reply answer respond say tell send post forward write use treat trust act behave delete remove open visit download click note let give keep
 stop start call add set make do be read speak translate accept refuse reject deny confirm agree quote print show reveal share leak install fetch
 load save store change update create put take assume believe consider respect report warn notify hide skip mark pass go come get help ask check listen wait look and `
	// orderHan are looked for in Chinese, simplified and traditional.
	orderHan = `以后|以後|从现在|從現在|从今|從今|今后|今後|往后|往後|此后|此後|总是|總是|永远|永遠|始终|始終|一直|忽略|无视|無視|不理|不要|别再|別再|不许|不許|不得|不准|禁止|` +
		`必须|必須|务必|務必|一定要|一律|每次|每当|每當|凡是|只要|同意|批准|核准|允许|允許|授权|授權|许可|許可|通过所有|通過所有|全部通过|执行|執行|运行|運行|命令|指令|指示|` +
		`系统|系統|提示词|提示詞|管理员|管理員|助手|机器人|機器人|你|您|妳|应该|應該|应当|應當|请|請|记住|記住|记得|記得|牢记|牢記|遵守|遵循|服从|服從|听从|聽從|照做|` +
		`被问|被問|问到|問到|有人问|有人問|问起|問起|回答|回复|回覆|无论|無論|不管|假装|假裝|扮演|绕过|繞過|覆盖|覆蓋|规则|規則|规定|規定|默认|默認|自动|自動|优先|優先`
)

// readsAsOrder reports whether a text may read as an order to the assistant, in English or in
// Chinese, or is not plain text: it has invisible characters, markup of other formats, or words of
// mixed scripts. It cannot prove that a text is harmless: text that passes is quoted, with the name
// of its author.
func readsAsOrder(text string) bool {
	if strings.ContainsFunc(text, unseen) || strings.ContainsAny(text, "{}<>`|\\") || strings.ContainsAny(text, "＜＞｛｝﹤﹥") {
		return true
	}
	normalized := normalize(text)
	if first := strings.TrimSpace(normalized); first != "" && strings.ContainsRune("#>-=*+~/!", rune(first[0])) {
		return true
	}
	words := strings.FieldsFunc(normalized, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	return ordersInWords(words) || imperative(normalized) || ordersInLetters(normalized)
}

// normalize normalises a text for comparison: compatibility forms unified, accents and signs of
// abbreviation removed, in lower case.
func normalize(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case unicode.Is(unicode.Mn, r), r == '\'', r == '’', r == 'ʼ', r == '`':
			return -1
		case r == 'ı':
			return 'i'
		case unicode.IsSpace(r):
			return ' '
		}
		return unicode.ToLower(r)
	}, norm.NFKD.String(text))
}

// unseen reports characters that are invisible, change the text direction, mean nothing, or are
// letters that compare as none.
func unseen(r rune) bool {
	switch r {
	case '\n', '\t', '\r', '\u200d', '\ufe0f': // the last two are part of emoji
		return false
	}
	if r >= '\U0001f100' && r <= '\U0001f1ff' {
		return true // enclosed letters, and flags, which consist of them
	}
	return r == unicode.ReplacementChar || unicode.In(r, unicode.Cc, unicode.Cf, unicode.Co, unicode.Cs, unicode.Zl, unicode.Zp)
}

func ordersInWords(words []string) bool {
	line, single := " "+strings.Join(words, " ")+" ", 0
	orders := strings.ReplaceAll(orderWords, "\n", "")
	for _, word := range words {
		if strings.Contains(orders, " "+digits(word)+" ") || mixed(word) {
			return true
		}
		if single++; len([]rune(word)) > 1 || word[0] >= 0x80 || unicode.IsDigit(rune(word[0])) {
			single = 0
		}
		if single >= 3 {
			return true // a word spelled letter by letter
		}
	}
	// A negative statement about oneself is not an order, for example "I do not eat meat".
	line = strings.NewReplacer(" i do not ", " i ", " i dont ", " i ", " we do not ", " we ", " we dont ", " we ").Replace(line)
	return slices.ContainsFunc(strings.Split(orderPhrases, "|"), func(phrase string) bool {
		return strings.Contains(line, " "+strings.TrimSpace(phrase)+" ")
	})
}

// ordersInLetters looks for orders in the letters alone, ignoring what separates them.
func ordersInLetters(normalized string) bool {
	letters := strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return r
		}
		return -1
	}, normalized)
	in := func(stems, text string) bool {
		return slices.ContainsFunc(strings.Split(stems, "|"), func(stem string) bool { return strings.Contains(text, stem) })
	}
	return in(orderStems, digits(letters)) || in(orderStems, letters) || in(norm.NFKD.String(orderHan), letters)
}

// imperative reports whether a sentence starts with a verb, like an order.
func imperative(normalized string) bool {
	verbs := strings.ReplaceAll(orderVerbs, "\n", "")
	for sentence := range strings.FieldsFuncSeq(normalized, func(r rune) bool { return strings.ContainsRune(".!?;:,。！？；：，、()[]\"“”", r) }) {
		words := strings.Fields(sentence)
		if len(words) > 0 && strings.Contains(verbs, " "+digits(words[0])+" ") {
			return true
		}
	}
	return false
}

// digits replaces digits and signs with the letters that they imitate.
func digits(word string) string {
	if !strings.ContainsAny(word, "01345$@") {
		return word
	}
	return strings.NewReplacer("0", "o", "1", "i", "3", "e", "4", "a", "5", "s", "$", "s", "@", "a").Replace(word)
}

// mixed reports whether a word mixes Latin letters with letters that look like them.
func mixed(word string) bool {
	latin := strings.ContainsFunc(word, func(r rune) bool { return unicode.Is(unicode.Latin, r) })
	if strings.ContainsFunc(word, func(r rune) bool { return r > '\u024f' && unicode.Is(unicode.Latin, r) }) {
		return true // letters of phonetics, small capitals
	}
	return latin && strings.ContainsFunc(word, func(r rune) bool {
		return unicode.In(r, unicode.Cyrillic, unicode.Greek, unicode.Armenian, unicode.Cherokee, unicode.Coptic)
	})
}
