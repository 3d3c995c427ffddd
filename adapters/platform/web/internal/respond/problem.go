package respond

import (
	"errors"
	"io"
	"math"
	"net/http"
	"strconv"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
)

// Problem is a refused request: a status, a code for programs and a sentence for people.
type Problem struct {
	Status     int
	Code       string
	message    string
	RetryAfter time.Duration
	Limit      int64 // if the sentence states one
}

// Refused returns a refusal. Its sentence has a translation in this package.
func Refused(status int, code, message string) *Problem {
	return &Problem{Status: status, Code: code, message: message}
}

// BadRequest is Refused with the status 400.
func BadRequest(code, message string) *Problem {
	return Refused(http.StatusBadRequest, code, message)
}

// Unauthorized refuses a request without a valid token or session.
func Unauthorized() *Problem {
	return Refused(http.StatusUnauthorized, "token_required",
		"You are not logged in here. Open the link that \"sma link\" prints, then try again. A program sends the token as a bearer token.")
}

// Busy refuses what cannot be done while the chat answers.
func Busy() *Problem {
	return Refused(http.StatusConflict, "busy", "The chat is busy with an answer. Stop it or wait until it ends, then try again.")
}

// FilesStay refuses changed words in an earlier message that has files.
func FilesStay() *Problem {
	return Refused(http.StatusConflict, "files_stay", "A message with files can be edited only while it is the last one. Send the changed words as a new message.")
}

// NotFound is for a chat or message that does not exist.
func NotFound() *Problem {
	return Refused(http.StatusNotFound, "not_found", "There is no such chat or message.")
}

// Of converts an error of the core. The wrapped error is for the log, not for people.
func Of(err error) *Problem {
	switch {
	case errors.Is(err, platform.ErrBusy):
		return Busy()
	case errors.Is(err, platform.ErrNotFound):
		return NotFound()
	default:
		p := Refused(http.StatusServiceUnavailable, "unavailable", "The host takes no messages now. Try again in a moment.")
		p.RetryAfter = time.Second
		return p
	}
}

// Write responds with the problem: as a sentence or as JSON, in the reader's language.
func (p *Problem) Write(w http.ResponseWriter) {
	if p.RetryAfter > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int(math.Ceil(p.RetryAfter.Seconds()))))
	}
	if p.Status == http.StatusUnauthorized {
		w.Header().Set("WWW-Authenticate", `Bearer realm="sma"`)
	}
	how, message := Style{}, p.message
	if rec, ok := w.(*Recorder); ok {
		how = rec.Style
	}
	if how.Chinese {
		message = p.inChinese()
	}
	if how.Sentence {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		w.Header().Set(CodeHeader, p.Code)
		w.WriteHeader(p.Status)
		_, _ = io.WriteString(w, message) // fails only if the reader has disconnected
		return
	}
	JSON(w, p.Status, map[string]string{"error": p.Code, "message": message})
}

// Declined refuses a message that a chat had no room for, or could not use.
func Declined(reason string) *Problem {
	words := "This message was not taken. Try again later."
	switch reason {
	case "lane_full":
		words = "Too many messages are waiting for an answer in this chat. Try again when some of them are answered."
	case "parked":
		words = "This message could not be handled. The operator finds it with \"sma outbox list\"."
	}
	return Refused(http.StatusTooManyRequests, "declined", words)
}

// inChinese returns the sentence of a refusal in Chinese.
func (p *Problem) inChinese() string {
	if words := chinese(p.message); words != "" {
		return words
	}
	switch p.Code {
	case "file_too_large":
		return "文件太大，最多 " + strconv.FormatInt(p.Limit, 10) + " MB。请发小一些的文件；管理员可以提高上限（limits.fileMB）。"
	case "too_many_files":
		return "一条消息最多带 " + strconv.FormatInt(p.Limit, 10) + " 个文件。"
	case "bad_message":
		return "无法读取最后一条消息，请刷新页面后重试。"
	case "bad_chat_id":
		return "这个聊天编号不能使用。"
	}
	return p.message
}

// chinese translates the sentence of a refusal, or returns an empty string without a translation.
func chinese(message string) string {
	return map[string]string{
		"A chat id is 1 to 256 bytes of text without control characters.":                                            "聊天编号须为 1 到 256 字节的文本，不含控制字符。",
		"A message id is at most 256 bytes of text without control characters.":                                      "消息编号最长 256 字节，不含控制字符。",
		"A request decides at most 100 requests for approval.":                                                       "一次最多答复 100 个审批请求。",
		"A user id is at most 256 bytes of text without control characters.":                                         "用户编号最长 256 字节，不含控制字符。",
		"A user message holds texts and files only.":                                                                 "消息只能包含文本和文件。",
		"An Idempotency-Key is at most 256 bytes of text without control characters.":                                "Idempotency-Key 最长 256 字节，不含控制字符。",
		"An edited message keeps its id.":                                                                            "修改消息时须保留原来的编号。",
		"A file of a message cannot be read: it is no data URL.":                                                     "消息里的文件无法读取：它不是 data URL。",
		"A title has at most 120 characters.":                                                                        "名称最多 120 个字符。",
		"Files are not taken here.":                                                                                  "这里不接收文件。",
		"The body is {\"title\": \"…\"}.":                                                                            "请求正文须为 {\"title\": \"…\"}。",
		"The file did not arrive in time.":                                                                           "文件没有及时传完，请重试。",
		"This chat has no such file. Upload it again.":                                                               "这个聊天里没有这个文件，请重新上传。",
		"Files are sent as data URLs, or uploaded to this chat first.":                                               "文件须以 data URL 的形式发送，或先上传到这个聊天。",
		"Pages of another origin may not use this address.":                                                          "其他网站的页面不能使用这个地址。",
		"Send the token in adapters.api.token as a bearer token. That of the page does not count here.":              "请以 Bearer 方式发送 adapters.api.token 中的令牌；网页的令牌在这里无效。",
		"Send the body as Content-Type: application/json.":                                                           "请求正文须为 Content-Type: application/json。",
		"The API is off. It needs a token in adapters.api.token.":                                                    "API 未启用。请先设置 adapters.api.token。",
		"The answer for this Idempotency-Key is no longer in the history.":                                           "这个 Idempotency-Key 对应的回答已不在历史记录中。",
		"The body is {\"all\": true} or empty.":                                                                      "请求正文须为 {\"all\": true} 或为空。",
		"The body is {instructions, chatId?, userId?, messageId?}, all of them strings.":                             "请求正文须为 {instructions, chatId?, userId?, messageId?}，各项均为字符串。",
		"A message with files can be edited only while it is the last one. Send the changed words as a new message.": "带文件的消息只有是最后一条时才能修改。请把改后的内容作为新消息发送。",
		"The chat is busy with an answer. Stop it or wait until it ends, then try again.":                            "这个聊天正在回答。请先停止，或等回答结束后再试。",
		"The form could not be read.":                                                                                "无法读取表单。",
		"The host takes no messages now. Try again in a moment.":                                                     "服务暂时不接收消息，请稍后再试。",
		"The instructions are empty.":                                                                                "instructions 为空。",
		"The last message is of the user or of the assistant.":                                                       "最后一条消息须来自用户或助手。",
		"The message is empty.":                                                                                      "消息为空。",
		"The request did not arrive in time.":                                                                        "请求传输超时，请重试。",
		"The request holds no message.":                                                                              "请求中没有消息。",
		"The request is not the JSON of a chat client.":                                                              "请求不是聊天客户端的 JSON。",
		"The request nests too deep.":                                                                                "请求的嵌套层数过多。",
		"The request was cut.":                                                                                       "请求没有完整到达，请重试。",
		"The result of this messageId is no longer in the history.":                                                  "这个 messageId 的结果已不在历史记录中。",
		"The run goes on. Ask again with the same messageId for its result.":                                         "任务仍在进行。请用同一个 messageId 再次查询结果。",
		"The trigger is submit-message or regenerate-message.":                                                       "trigger 须为 submit-message 或 regenerate-message。",
		"There is no such address here.":                                                                             "没有这个地址。",
		"There is no such chat or message.":                                                                          "没有这个聊天或消息，请刷新页面。",
		"There is no such request for approval.":                                                                     "没有这个审批请求。",
		"This Idempotency-Key or messageId belongs to another message.":                                              "这个 Idempotency-Key 或 messageId 已用于另一条消息。",
		"This address is not served under that name.":                                                                "不能用这个域名访问此服务。",
		"This could not be shown completely yet.":                                                                    "这个请求还没有完整显示。",
		"This id belongs to another message.":                                                                        "这个编号属于另一条消息。",
		"This is too large to send. Send a smaller file, or start a new chat if the page sends its whole history.":   "内容太大，无法发送。请发送更小的文件；如果页面会附带全部历史记录，请新建聊天。",
		"This message could not be handled. The operator finds it with \"sma outbox list\".":                         "这条消息无法处理。管理员可以用 sma outbox list 查看。",
		"This message was not taken. Try again later.":                                                               "这条消息没有被接收，请稍后再试。",
		"This text is too long to send. Shorten it, or send it as a file.":                                           "文字太长，无法发送。请缩短，或以文件的形式发送。",
		"This was decided already. Load the chat again to see what came of it.":                                      "这个请求已有决定。请刷新聊天查看结果。",
		"Too many messages are waiting for an answer in this chat. Try again when some of them are answered.":        "这个聊天中等待回答的消息太多，请等一部分回答完后再发。",
		"Too many wrong tokens. Try again in a minute.":                                                              "错误的令牌次数过多，请一分钟后再试。",
		"You are not logged in here. Open the link that \"sma link\" prints, then try again. A program sends the token as a bearer token.": "尚未登录。请打开 sma link 命令显示的链接，然后重试。程序须以 Bearer 方式发送令牌。",
		"With this token you may only look at the console.": "这个令牌只能查看控制台。",
		"You may not decide this.":                          "你无权决定这个请求。",
	}[message]
}
