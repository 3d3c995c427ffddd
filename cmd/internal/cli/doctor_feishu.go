package cli

import (
	"context"
	"errors"
	"regexp"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/platform/feishu"
	"github.com/shipmyagent/shipmyagent/cmd/internal/host"
	"github.com/shipmyagent/shipmyagent/config"
)

// onlineTimeout bounds one question to a service.
const onlineTimeout = 15 * time.Second

// feishuNeeds is what the developer console has to give the app. Which scopes it has
// given, the service says online; of events it says nothing.
const feishuNeeds = "scopes im:message, im:message.p2p_msg:readonly, im:message.group_at_msg:readonly, im:message:send_as_bot, im:resource, cardkit:card:write" +
	" (im:message.group_msg to hear groups without a mention, im:chat:readonly for platformAdmins); events im.message.receive_v1, im.message.recalled_v1" +
	" (im.chat.member.bot.added_v1, im.chat.member.bot.deleted_v1 and im.chat.disbanded_v1, with im:chat.members:bot_access, to be asked about groups at once); callback card.action.trigger"

// askFeishu names every scope that the app lacks.
func askFeishu(ctx context.Context, s config.Settings) []finding {
	const name = "feishu"
	if !s.Adapters.Feishu.Enabled {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, onlineTimeout)
	defer cancel()
	needs, err := host.FeishuMissing(ctx, s)
	if errors.Is(err, feishu.ErrSecret) {
		return []finding{{name, markRefused, "the service refuses the app's id or secret", "copy App ID and App Secret again from the developer console, Credentials & Basic Info"}}
	}
	if err != nil {
		return []finding{{name, markFail, "the service does not say what the app may: " + errText(err), "check adapters.feishu.appId, the app secret and the network"}}
	}
	var out []finding
	for _, n := range needs {
		mark := markWarn
		if n.Must {
			mark = markFail
		}
		out = append(out, finding{name, mark, "the scope " + n.Scope() + " is missing: " + n.For, "developer console, Permissions & Scopes: add " + n.Scope() + ", then publish a version"})
	}
	if len(out) == 0 {
		out = append(out, finding{name, markOK, "the app has every scope that it needs", ""})
	}
	return out
}

// checkFeishu tells what can be seen of the app's settings without asking the service.
func checkFeishu(s config.Settings) []finding {
	const name = "feishu"
	f := s.Adapters.Feishu
	if !f.Enabled {
		return []finding{{name, markOK, "off", ""}}
	}
	var out []finding
	if !regexp.MustCompile(`^cli_[A-Za-z0-9]{8,}$`).MatchString(f.AppID) {
		out = append(out, finding{name, markFail, "the app id has not the form cli_…", "copy it again from the developer console, Credentials & Basic Info"})
	}
	if s.LLM.Provider == config.ProviderDemo {
		out = append(out, finding{name, markFail, "Feishu is on, but the demo model answers on this machine only", "set OPENAI_API_KEY"})
	}
	if f.Access == config.AccessOpen {
		out = append(out, finding{name, markWarn, "everybody who finds the app may talk to it", "set adapters.feishu.access to paired"})
	}
	if f.Receive == "webhook" && f.VerificationToken.IsZero() {
		out = append(out, finding{name, markWarn, "the verification token of events is not checked", "set adapters.feishu.verificationToken"})
	}
	if len(out) == 0 {
		out = append(out, finding{name, markOK, "on, by " + f.Receive, ""})
	}
	return append(out, finding{name, markOK, "the app needs " + feishuNeeds, ""})
}
