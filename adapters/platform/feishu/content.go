package feishu

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/adapters/platform/internal/botkit"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
)

// kindPhoto is the kind of files that the service stores as images.
const kindPhoto = "photo"

// said is the content of a message.
type said struct {
	text      string
	parts     []uimessage.Part
	forwarded bool
}

// readContent reads the content of a message by its kind. What is not text becomes a placeholder,
// with a data part if it is a file.
func readContent(msg message) said {
	var c struct {
		Text      string  `json:"text"`
		Title     string  `json:"title"`
		ImageKey  string  `json:"image_key"`
		FileKey   string  `json:"file_key"`
		FileName  string  `json:"file_name"`
		Duration  float64 `json:"duration"`
		Name      string  `json:"name"`
		Latitude  string  `json:"latitude"`
		Longitude string  `json:"longitude"`
	}
	_ = json.Unmarshal([]byte(msg.Content), &c) // use whatever could be decoded
	file := func(kind, key string) said { return msg.file(kind, key, c.FileName, int64(c.Duration)) }
	switch msg.Kind {
	case "text":
		return said{text: strings.TrimSpace(c.Text)}
	case "post":
		return readPost(msg)
	case "image":
		return file(kindPhoto, c.ImageKey)
	case "file":
		return file("document", c.FileKey)
	case "audio":
		return file("voice", c.FileKey)
	case "media":
		return file("video", c.FileKey)
	case "sticker": // stickers cannot be downloaded
		return note("sticker")
	case "folder": // neither can folders
		return note("folder", botkit.FileName(c.FileName))
	case "location":
		return note("location", botkit.Tidy(c.Name, botkit.MaxFileName), botkit.Tidy(c.Latitude, 20)+","+botkit.Tidy(c.Longitude, 20))
	case "interactive":
		return readCard(msg)
	case kindForwards:
		return readForwards(msg)
	case "", "system":
		return said{}
	}
	return note(botkit.Tidy(strings.ReplaceAll(msg.Kind, "_", " "), 40))
}

func note(words ...string) said {
	return said{parts: []uimessage.Part{uimessage.Text{Text: botkit.Placeholder(words...)}}}
}

// file returns a placeholder, and a data part with the ids for the download. The service identifies
// a file by its message, too.
func (msg message) file(kind, key, name string, duration int64) said {
	f := platform.File{Kind: kind, FileID: msg.ID + "/" + key, Unique: botkit.Tidy(key, botkit.MaxFileName), Name: botkit.FileName(name)}
	label := ""
	if duration = min(max(0, duration), 1<<40); duration > 0 {
		label = strconv.FormatInt((duration+999)/1000, 10) + " s"
	}
	out := note(kind, f.Name, label)
	if _, _, ok := fileOf(f.FileID); ok {
		out.parts = append(out.parts, f.Part())
	}
	return out
}

// element is a part of rich text.
type element struct {
	Tag      string `json:"tag"`
	Text     string `json:"text"`
	Href     string `json:"href"`
	UserID   string `json:"user_id"` // the key of a mention
	UserName string `json:"user_name"`
	ImageKey string `json:"image_key"`
	FileKey  string `json:"file_key"`
	Emoji    string `json:"emoji_type"`
	Language string `json:"language"`
}

type richText struct {
	Title   string      `json:"title"`
	Content [][]element `json:"content"`
}

// readPost reads rich text as Markdown-like text, and its files. The content is either bare or
// grouped by language.
func readPost(msg message) said {
	var rich richText
	_ = json.Unmarshal([]byte(msg.Content), &rich) // use whatever could be decoded
	if len(rich.Content) == 0 {
		var byLanguage map[string]richText
		_ = json.Unmarshal([]byte(msg.Content), &byLanguage)
		for _, lang := range []string{"zh_cn", "en_us", "ja_jp"} {
			if r, ok := byLanguage[lang]; ok {
				rich = r
				break
			}
		}
	}
	var lines []string
	var out said
	if rich.Title != "" {
		lines = append(lines, rich.Title)
	}
	for _, row := range rich.Content {
		var line strings.Builder
		for _, e := range row {
			text, parts := e.read(msg)
			line.WriteString(text)
			out.parts = append(out.parts, parts...)
		}
		lines = append(lines, line.String())
	}
	out.text = strings.TrimSpace(strings.Join(lines, "\n"))
	return out
}

func (e element) read(msg message) (string, []uimessage.Part) {
	switch e.Tag {
	case "a":
		if e.Href == "" || e.Href == e.Text {
			return e.Text, nil
		}
		return e.Text + " (" + e.Href + ")", nil
	case "at":
		if slices.ContainsFunc(msg.Mentions, func(x mention) bool { return x.Key == e.UserID }) {
			return e.UserID, nil // replaced by the name later, like in texts
		}
		return "@" + botkit.Tidy(e.UserName, botkit.MaxName), nil
	case "img":
		return "", msg.file(kindPhoto, e.ImageKey, "", 0).parts
	case "media":
		return "", msg.file("video", e.FileKey, "", 0).parts
	case "emotion":
		return botkit.Placeholder(botkit.Tidy(e.Emoji, 40)), nil
	case "code_block":
		return "```" + botkit.Tidy(e.Language, 32) + "\n" + strings.TrimRight(e.Text, "\n") + "\n```", nil
	case "hr":
		return "---", nil
	}
	return e.Text, nil
}
