package config

// Adapters are the platforms where people chat. Without an explicit setting, web and cli are enabled; the others are
// enabled once their credentials are set.
type Adapters struct {
	Telegram Telegram `json:"telegram" jsonschema_description:"A Telegram bot."`
	Feishu   Feishu   `json:"feishu" jsonschema_description:"A Feishu or Lark app."`
	Web      Web      `json:"web" jsonschema_description:"The web chat and its pages."`
	CLI      CLI      `json:"cli" jsonschema_description:"The terminal chat, over a socket in the project's state folder."`
	API      API      `json:"api" jsonschema_description:"The HTTP API, served where the web chat is."`
}

// Telegram configures the Telegram bot.
type Telegram struct {
	Enabled      bool   `json:"enabled" jsonschema_description:"Run the bot. Unset: once botToken is set."`
	BotToken     Secret `json:"botToken,omitzero" variable:"TELEGRAM_BOT_TOKEN" jsonschema_description:"Token from BotFather; write ${TELEGRAM_BOT_TOKEN}. That variable counts by itself at Telegram's own address, on this machine, and at an address that the operator sets."`
	BaseURL      string `json:"baseUrl" default:"https://api.telegram.org" rule:"baseUrl" reach:"address" jsonschema_description:"Root of the Bot API."`
	Proxy        string `json:"proxy,omitempty" rule:"proxy" reach:"address" jsonschema_description:"Proxy that the Bot API is reached through, as http://, https:// or socks5:// with host and port. Unset: the variables HTTPS_PROXY and NO_PROXY count, which may hold a password, too."`
	Access       string `json:"access" default:"paired" jsonschema:"enum=owner,enum=paired,enum=open" jsonschema_description:"Who may talk to the bot: the owner alone, the people and groups that the owner let in, or everybody."`
	Groups       string `json:"groups" default:"mention" jsonschema:"enum=mention,enum=reply,enum=commands,enum=all" jsonschema_description:"What the bot answers in groups: messages that mention it or reply to it, replies alone, commands alone, or all. The owner changes it in a group with /activation."`
	RateLimit    string `json:"rateLimit" default:"standard" jsonschema:"enum=standard,enum=off" jsonschema_description:"How fast the bot sends: within the limits that Telegram publishes, or as fast as the server takes it."`
	Egress       string `json:"egress" default:"tool" jsonschema:"enum=tool,enum=direct" jsonschema_description:"How answers leave; wins over context.chatEgress.mode."`
	Drafts       string `json:"drafts" default:"edit" jsonschema:"enum=edit,enum=draft,enum=off" jsonschema_description:"How an unfinished answer is shown: by editing a message, as a native draft in private chats, or not at all."`
	Reactions    bool   `json:"reactions" jsonschema_description:"Mark people's messages with their state: one reaction when a message is accepted, another when the current run takes it in, none once it is answered."`
	RichMessages bool   `json:"richMessages" jsonschema_description:"Send Markdown as rich messages where the server knows them."`
	GroupContext int    `json:"groupContext" jsonschema:"minimum=0,maximum=200" jsonschema_description:"Ignored messages of a group that are quoted with the message that addresses the bot."`
	// FollowUpMinutes apply to messages that only continue the conversation by their wording.
	FollowUpMinutes int  `json:"followUpMinutes" jsonschema:"minimum=0,maximum=1440" jsonschema_description:"Minutes in which somebody who spoke with the bot in a group may continue without naming it, with a question or a sentence that follows on; 0: never. 10 is a good length."`
	Webhook         Hook `json:"webhook" jsonschema_description:"Lets Telegram bring messages instead of polling for them."`

	Accounts map[string]TelegramAccount `json:"accounts,omitempty" jsonschema_description:"Further bots, by a short name that is a part of their chats' keys; what they do not set is as for the first. They poll."`
}

// TelegramAccount configures a further bot.
type TelegramAccount struct {
	BotToken Secret `json:"botToken,omitzero" variable:"TELEGRAM_BOT_TOKEN_2" jsonschema_description:"Token from BotFather; write ${NAME} of a variable."`
	Access   string `json:"access,omitempty" jsonschema:"enum=owner,enum=paired,enum=open" jsonschema_description:"Who may talk to the bot; unset: as for the first."`
	Groups   string `json:"groups,omitempty" jsonschema:"enum=mention,enum=reply,enum=commands,enum=all" jsonschema_description:"What the bot answers in groups; unset: as for the first."`
}

// Hook configures a webhook: plain HTTP on this machine, behind a proxy that speaks TLS.
type Hook struct {
	URL    string `json:"url,omitempty" rule:"publicUrl" reach:"address" jsonschema_description:"Public https address that Telegram calls. Empty: the bot polls."`
	Listen string `json:"listen" default:"127.0.0.1:8443" rule:"listen" jsonschema_description:"Address that the proxy in front passes requests on to."`
	Secret Secret `json:"secret,omitzero" rule:"secretWord" variable:"TELEGRAM_WEBHOOK_SECRET" jsonschema_description:"Word that every request carries: letters, digits, _ and -. Unset: a random one for each start."`
}

// Feishu configures the Feishu or Lark app.
type Feishu struct {
	Enabled           bool             `json:"enabled" jsonschema_description:"Run the app. Unset: once appId and appSecret are set."`
	AppID             string           `json:"appId,omitempty" jsonschema_description:"Id of the app."`
	AppSecret         Secret           `json:"appSecret,omitzero" variable:"FEISHU_APP_SECRET" jsonschema_description:"Secret of the app; write ${FEISHU_APP_SECRET}."`
	BaseURL           string           `json:"baseUrl" default:"https://open.feishu.cn" rule:"baseUrl" reach:"address" jsonschema_description:"Root of the open platform: https://open.feishu.cn, or https://open.larksuite.com."`
	Receive           string           `json:"receive" default:"connection" jsonschema:"enum=connection,enum=webhook" jsonschema_description:"How events come in: over a long connection, or posted to webhook.listen."`
	Webhook           FeishuHook       `json:"webhook" jsonschema_description:"Where events are posted when receive is webhook."`
	VerificationToken Secret           `json:"verificationToken,omitzero" variable:"FEISHU_VERIFICATION_TOKEN" jsonschema_description:"Token that the webhook's events carry."`
	EncryptKey        Secret           `json:"encryptKey,omitzero" variable:"FEISHU_ENCRYPT_KEY" jsonschema_description:"Key of the webhook's signature and encryption; webhook needs it."`
	Access            string           `json:"access" default:"paired" jsonschema:"enum=owner,enum=paired,enum=open" jsonschema_description:"Who may talk to the bot in private."`
	Groups            map[string]Group `json:"groups,omitempty" rule:"feishuGroup" jsonschema_description:"Groups the bot works in, by their chat id (oc_…); * stands for every other group. Groups not listed are refused."`
	RateLimit         RateLimit        `json:"rateLimit" jsonschema_description:"How fast the bot sends."`
	Egress            string           `json:"egress" default:"tool" jsonschema:"enum=tool,enum=direct" jsonschema_description:"How answers leave; wins over context.chatEgress.mode."`
	Drafts            string           `json:"drafts" default:"card" jsonschema:"enum=card,enum=off" jsonschema_description:"How an unfinished answer is shown: in a streaming card, or not at all."`
	GroupContext      int              `json:"groupContext" jsonschema:"minimum=0,maximum=200" jsonschema_description:"Ignored messages of a group that are quoted with the message that addresses the bot."`
}

// FeishuHook configures Feishu's webhook: plain HTTP on this machine, behind a proxy that speaks TLS.
type FeishuHook struct {
	Listen string `json:"listen" default:"127.0.0.1:8445" rule:"listen" jsonschema_description:"Address that the proxy in front passes requests on to."`
	Path   string `json:"path" default:"/feishu" rule:"urlPath" jsonschema_description:"Path of the request address that is set in the developer console."`
}

// Group configures one Feishu group that the bot works in.
type Group struct {
	Access       string `json:"access" default:"open" jsonschema:"enum=owner,enum=paired,enum=open" jsonschema_description:"Which members may talk to the bot; everybody by default, as listing the group lets it in."`
	Addressed    string `json:"addressed" default:"mention" jsonschema:"enum=mention,enum=all,enum=always" jsonschema_description:"Answer when mentioned or replied to, or every message, which is all; always is its older name."`
	GroupContext *int   `json:"groupContext,omitempty" jsonschema:"minimum=0,maximum=200" jsonschema_description:"Wins over the platform's groupContext."`
}

// RateLimit bounds how fast the bot sends to Feishu.
type RateLimit struct {
	PerSecond         Limit `json:"perSecond" default:"50" jsonschema_description:"Sends per second over all chats."`
	PerChatPerSecond  Limit `json:"perChatPerSecond" default:"5" jsonschema_description:"Sends per second into one chat."`
	PerGroupPerMinute Limit `json:"perGroupPerMinute" jsonschema_description:"Sends per minute into one group, in addition to perChatPerSecond."`
}

// Web configures the web chat.
type Web struct {
	Enabled bool   `json:"enabled" default:"true" jsonschema_description:"Serve the web chat and its pages."`
	Listen  string `json:"listen" default:"127.0.0.1:3000" rule:"listen" jsonschema_description:"Address to listen on. Anything but loopback needs a token."`
	Token   Secret `json:"token,omitzero" variable:"WEB_TOKEN" jsonschema_description:"Token that people log in with; without one, sma run makes one and keeps it in its state folder."`
	Egress  string `json:"egress" default:"direct" jsonschema:"enum=tool,enum=direct" jsonschema_description:"How answers leave; wins over context.chatEgress.mode."`
}

// CLI configures the terminal chat.
type CLI struct {
	Enabled bool   `json:"enabled" default:"true" jsonschema_description:"Let sma chat attach to the running host."`
	Egress  string `json:"egress" default:"direct" jsonschema:"enum=tool,enum=direct" jsonschema_description:"How answers leave; wins over context.chatEgress.mode."`
}

// API configures the HTTP API.
type API struct {
	Enabled bool   `json:"enabled" jsonschema_description:"Serve the API. Unset: once token is set."`
	Token   Secret `json:"token,omitzero" variable:"API_TOKEN" jsonschema_description:"Bearer token of the API, always needed; write ${API_TOKEN}."`
	Egress  string `json:"egress" default:"direct" jsonschema:"enum=tool,enum=direct" jsonschema_description:"How answers leave; wins over context.chatEgress.mode."`
}
