package telegram

import (
	"net/http"
	"testing"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/adapters/platform/internal/botkit"
	"github.com/shipmyagent/shipmyagent/messages"
)

// TestRefusalsInTheWordsOfTheService uses the texts with which the Bot API responds.
func TestRefusalsInTheWordsOfTheService(t *testing.T) {
	const forbidden, gone, refused = platform.SendForbidden, platform.SendNotFound, platform.SendRefused
	for text, want := range map[string]platform.SendReason{
		"Forbidden: bot was blocked by the user":                              forbidden,
		"Forbidden: user is deactivated":                                      forbidden,
		"Forbidden: bot was kicked from the supergroup chat":                  forbidden,
		"Forbidden: bot is not a member of the channel chat":                  forbidden,
		"Forbidden: the group chat was deleted":                               forbidden,
		"Forbidden: bot can't initiate conversation with a user":              forbidden,
		"Forbidden: bot can't send messages to bots":                          forbidden,
		"Bad Request: not enough rights to send text messages to the chat":    forbidden,
		"Bad Request: not enough rights to send photos to the chat":           forbidden,
		"Bad Request: have no rights to send a message":                       forbidden,
		"Bad Request: have no write access to the chat":                       forbidden,
		"Bad Request: need administrator rights in the channel chat":          forbidden,
		"Bad Request: CHAT_WRITE_FORBIDDEN":                                   forbidden,
		"Bad Request: CHAT_SEND_PLAIN_FORBIDDEN":                              forbidden,
		"Bad Request: CHAT_RESTRICTED":                                        forbidden,
		"Bad Request: TOPIC_CLOSED":                                           forbidden,
		"Bad Request: TOPIC_DELETED":                                          gone,
		"Bad Request: chat not found":                                         gone,
		"Bad Request: private chat not found":                                 gone,
		"Bad Request: message thread not found":                               gone,
		"Bad Request: message to edit not found":                              gone,
		"Bad Request: message to be replied not found":                        gone,
		"Bad Request: MESSAGE_ID_INVALID":                                     gone,
		"Bad Request: PEER_ID_INVALID":                                        gone,
		"Bad Request: message can't be edited":                                refused,
		"Bad Request: message is too long":                                    refused,
		"Bad Request: text must be non-empty":                                 refused,
		"Bad Request: BUTTON_DATA_INVALID":                                    refused,
		"Bad Request: wrong file identifier/HTTP URL specified":               refused,
		"Bad Request: can't use file of type Document as Photo":               refused,
		"Bad Request: PHOTO_INVALID_DIMENSIONS":                               refused,
		"Bad Request: file of size 9 bytes is too big for a photo; the m":     refused,
		"Bad Request: can't parse entities: Unsupported start tag \"p\" at b": refused,
	} {
		code := http.StatusBadRequest
		if text[0] == 'F' {
			code = http.StatusForbidden
		}
		if got := refusal(&apiError{Code: code, Description: text}); got.Reason != want || got.Retryable || got.Unknown {
			t.Errorf("%s: %+v", text, got)
		}
	}
	for text, want := range map[string]bool{
		"Bad Request: can't parse entities: Can't find end tag corresponding to start tag \"b\"": true,
		"Bad Request: text is too long":    true,
		"Bad Request: ENTITIES_TOO_LONG":   true,
		"Bad Request: message is too long": false,
	} {
		if got := isMarkupRefused(&apiError{Code: http.StatusBadRequest, Description: text}); got != want {
			t.Errorf("%s: markup refused %v", text, got)
		}
	}
}

// The answer to a press is shown in a place for at most 200 characters.
func TestToastsAreShort(t *testing.T) {
	for _, language := range []string{"en", "zh"} {
		say := wordsFor(language, "")
		for _, text := range []string{
			say.UnknownRequest, say.MayNotDecide, say.TryAgain, say.OwnerOnly, say.GroupAllowed, say.ApprovedToast, say.DeniedToast, say.AlreadyDecided, say.ExpiredRequest,
		} {
			if n := len([]rune(text)); n == 0 || n > 200 {
				t.Errorf("%d characters: %s", n, text)
			}
		}
	}
}

// People who press the button of a decided request read who decided it.
func TestDecidedBeforeIsShownByName(t *testing.T) {
	for _, c := range []struct {
		name string
		out  messages.DecisionOutcome
		want string
	}{
		{"named", messages.DecisionOutcome{Is: messages.DecisionAlready, Answer: "denied", By: "telegram-8", ByName: "Carl"}, "❌ Carl"},
		{"without a name", messages.DecisionOutcome{Is: messages.DecisionAlready, Answer: "approved", By: "telegram-8"}, "✅ telegram-8"},
	} {
		answer := botkit.Decided(wordsFor("en", "").Words, messages.Decision{Approved: true}, c.out)
		if shown := decidedBefore(answer.Mark, c.out); shown != c.want {
			t.Errorf("%s: %q, want %q", c.name, shown, c.want)
		}
	}
}
