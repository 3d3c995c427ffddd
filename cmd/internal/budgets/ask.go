package budgets

import (
	"context"
	"strings"
	"time"

	"github.com/shipmyagent/shipmyagent/actors/chat/approval"
	"github.com/shipmyagent/shipmyagent/actors/chat/notices"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/persistence/ledger"
)

// maxNews is how many questions and answers wait to be sent. Further ones are not sent; /more lists the questions.
const maxNews = 100

// news is a question for the owner or, if it was allowed, the answer for the chat that waits for it.
type news struct {
	ledger.Question

	allowed bool
}

// Messenger reaches the owner and the chats. All are required.
type Messenger struct {
	// Owner is the private chat of the owner of a chat's bot, if there is one.
	Owner func(messages.ChatKey) (messages.ChatKey, bool)
	// Name is the name of a chat, or empty.
	Name func(messages.ChatKey) string
	Post func(context.Context, messages.PostWords) error
}

// Tell tells the owner of limits that are reached, and chats of what the owner has allowed, until ctx ends.
func (b *Budgets) Tell(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case n := <-b.news:
			to, words := n.Chat, notices.Text{"The owner has allowed more. Please ask again.", "主人已允许更多用量，请再问一次。"}
			if !n.allowed {
				to, _ = b.messenger.Owner(n.Chat)
				words = b.question(n.Question)
			}
			if addr, ok := to.Address(); !ok || addr.Platform == "api" || addr.Platform == "task" {
				continue // no person reads it there
			}
			id := "limit-" + n.Code
			if n.allowed {
				id += "-allowed"
			}
			if err := b.messenger.Post(ctx, messages.PostWords{ChatKey: to, PostID: id, RequestID: id, Text: words[0], Chinese: words[1]}); err != nil && ctx.Err() == nil {
				b.log.Warn("a message about a spending limit could not be sent", "chat_key", string(to), "limit", n.Limit, "error", err)
			}
		}
	}
}

func (b *Budgets) send(n news) {
	select {
	case b.news <- n:
	default:
		b.log.Warn("too many messages about spending limits wait; one was not sent", "chat_key", string(n.Chat), "limit", n.Limit)
	}
}

// question is what the owner reads about a limit.
func (b *Budgets) question(q ledger.Question) notices.Text {
	return notices.MayUseMore(q.Limit, q.Code, approval.Quoted(b.messenger.Name(q.Chat), string(q.Chat)), q.Person, time.Now().In(b.zone))
}

// More allows what the question with a code asks for, on behalf of the owner, who says so in a chat. Without a code it
// lists the open questions, but only in a private chat.
func (b *Budgets) More(code string, from messages.ChatKey, private bool) (en, zh string) {
	code = strings.ToLower(strings.TrimSpace(code))
	if code == "" {
		return b.openQuestions(private)
	}
	q, ok, err := b.ledger.Allow(code)
	switch {
	case err != nil:
		b.log.Error("what the owner allows at a spending limit cannot be recorded", "error", err)
		return "This could not be recorded, so nothing was allowed; the log says why.", "无法记录，因此没有允许更多用量，原因见日志。"
	case !ok:
		return "No limit waits for an answer with this code. /more lists those that do.", "没有等待这个代码的用量上限。发送 /more 查看正在等待的上限。"
	}
	b.log.Info("the owner allowed more at a spending limit", "limit", q.Limit, "chat_key", string(q.Chat), "by", string(from))
	if q.Chat != from {
		b.send(news{q, true})
	}
	words := notices.MoreAllowed(q.Limit, time.Now().In(b.zone))
	return words[0], words[1]
}

func (b *Budgets) openQuestions(private bool) (en, zh string) {
	if !private {
		return "In our private chat /more lists the limits that wait for you.", "请在私聊里发送 /more 查看等待你决定的用量上限。"
	}
	open, err := b.ledger.Questions()
	if err != nil {
		b.log.Error("the limits that wait for the owner cannot be read", "error", err)
		return "The limits that wait for you cannot be read at the moment; the log says why.", "暂时无法读取等待决定的用量上限，原因见日志。"
	}
	if len(open) == 0 {
		return "No limit waits for you.", "没有等待你决定的用量上限。"
	}
	var out text
	for i, q := range open {
		if i == maxReported {
			out.add("…\n\n", "……\n\n")
			break
		}
		words := b.question(q)
		out.add(words[0]+"\n\n", words[1]+"\n\n")
	}
	return strings.TrimSpace(out[0]), strings.TrimSpace(out[1])
}
