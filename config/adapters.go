package config

// Adapters are the platforms where people chat. Without an explicit setting, web and cli are enabled; the others are
// enabled once their credentials are set.
type Adapters struct {
	Telegram Telegram `json:"telegram" about:"A Telegram bot."`
	Feishu   Feishu   `json:"feishu" about:"A Feishu or Lark app."`
	Web      Web      `json:"web" about:"The web chat and its pages."`
	CLI      CLI      `json:"cli" about:"The terminal chat, over a socket in the project's state folder."`
	API      API      `json:"api" about:"The HTTP API, served where the web chat is."`
}

// Telegram configures the Telegram bot.
type Telegram struct {
	Enabled      bool   `json:"enabled" about:"Run the bot. Unset: once botToken is set."`
	BotToken     Secret `json:"botToken,omitzero" variable:"TELEGRAM_BOT_TOKEN" about:"Token from BotFather; write ${TELEGRAM_BOT_TOKEN}. That variable counts by itself at Telegram's own address, on this machine, and at an address that the operator sets."`
	BaseURL      string `json:"baseUrl" default:"https://api.telegram.org" rule:"baseUrl" reach:"address" about:"Root of the Bot API."`
	Proxy        string `json:"proxy,omitempty" rule:"proxy" reach:"address" about:"Proxy that the Bot API is reached through, as http://, https:// or socks5:// with host and port. Unset: the variables HTTPS_PROXY and NO_PROXY count, which may hold a password, too."`
	Access       string `json:"access" default:"paired" words:"owner paired open" about:"Who may talk to the bot: the owner alone, the people and groups that the owner let in, or everybody."`
	Groups       string `json:"groups" default:"mention" words:"mention reply commands all" about:"What the bot answers in groups: messages that mention it or reply to it, replies alone, commands alone, or all. The owner changes it in a group with /activation."`
	RateLimit    string `json:"rateLimit" default:"standard" words:"standard off" about:"How fast the bot sends: within the limits that Telegram publishes, or as fast as the server takes it."`
	Egress       string `json:"egress" default:"tool" words:"tool direct" about:"How answers leave; wins over context.chatEgress.mode."`
	Drafts       string `json:"drafts" default:"edit" words:"edit draft off" about:"How an unfinished answer is shown: by editing a message, as a native draft in private chats, or not at all."`
	Reactions    bool   `json:"reactions" about:"Mark people's messages with their state: one reaction when a message is accepted, another when the current run takes it in, none once it is answered."`
	RichMessages bool   `json:"richMessages" about:"Send Markdown as rich messages where the server knows them."`
	GroupContext int    `json:"groupContext" min:"0" max:"200" about:"Ignored messages of a group that are quoted with the message that addresses the bot."`
	// FollowUpMinutes apply to messages that only continue the conversation by their wording.
	FollowUpMinutes int  `json:"followUpMinutes" min:"0" max:"1440" about:"Minutes in which somebody who spoke with the bot in a group may continue without naming it, with a question or a sentence that follows on; 0: never. 10 is a good length."`
	Webhook         Hook `json:"webhook" about:"Lets Telegram bring messages instead of polling for them."`

	Accounts map[string]TelegramAccount `json:"accounts,omitempty" rule:"account" about:"Further bots, by a short name that is a part of their chats' keys; what they do not set is as for the first. They poll."`
}

// TelegramAccount configures a further bot.
type TelegramAccount struct {
	BotToken Secret `json:"botToken,omitzero" variable:"TELEGRAM_BOT_TOKEN_2" about:"Token from BotFather; write ${NAME} of a variable."`
	Access   string `json:"access,omitempty" words:"owner paired open" about:"Who may talk to the bot; unset: as for the first."`
	Groups   string `json:"groups,omitempty" words:"mention reply commands all" about:"What the bot answers in groups; unset: as for the first."`
}

// Hook configures a webhook: plain HTTP on this machine, behind a proxy that speaks TLS.
type Hook struct {
	URL    string `json:"url,omitempty" rule:"publicUrl" reach:"address" about:"Public https address that Telegram calls. Empty: the bot polls."`
	Listen string `json:"listen" default:"127.0.0.1:8443" rule:"listen" about:"Address that the proxy in front passes requests on to."`
	Secret Secret `json:"secret,omitzero" rule:"secretWord" variable:"TELEGRAM_WEBHOOK_SECRET" about:"Word that every request carries: letters, digits, _ and -. Unset: a random one for each start."`
}

// Feishu configures the Feishu or Lark app.
type Feishu struct {
	Enabled           bool             `json:"enabled" about:"Run the app. Unset: once appId and appSecret are set."`
	AppID             string           `json:"appId,omitempty" about:"Id of the app."`
	AppSecret         Secret           `json:"appSecret,omitzero" variable:"FEISHU_APP_SECRET" about:"Secret of the app; write ${FEISHU_APP_SECRET}."`
	BaseURL           string           `json:"baseUrl" default:"https://open.feishu.cn" rule:"baseUrl" reach:"address" about:"Root of the open platform: https://open.feishu.cn, or https://open.larksuite.com."`
	Receive           string           `json:"receive" default:"connection" words:"connection webhook" about:"How events come in: over a long connection, or posted to webhook.listen."`
	Webhook           FeishuHook       `json:"webhook" about:"Where events are posted when receive is webhook."`
	VerificationToken Secret           `json:"verificationToken,omitzero" variable:"FEISHU_VERIFICATION_TOKEN" about:"Token that the webhook's events carry."`
	EncryptKey        Secret           `json:"encryptKey,omitzero" variable:"FEISHU_ENCRYPT_KEY" about:"Key of the webhook's signature and encryption; webhook needs it."`
	Access            string           `json:"access" default:"paired" words:"owner paired open" about:"Who may talk to the bot in private."`
	Groups            map[string]Group `json:"groups,omitempty" rule:"feishuGroup" about:"Groups the bot works in, by their chat id (oc_…); * stands for every other group. A group not listed answers only people with access, until the owner allows it."`
	RateLimit         RateLimit        `json:"rateLimit" about:"How fast the bot sends."`
	Egress            string           `json:"egress" default:"tool" words:"tool direct" about:"How answers leave; wins over context.chatEgress.mode."`
	Drafts            string           `json:"drafts" default:"card" words:"card off" about:"How an unfinished answer is shown: in a streaming card, or not at all."`
	GroupContext      int              `json:"groupContext" min:"0" max:"200" about:"Ignored messages of a group that are quoted with the message that addresses the bot."`
}

// FeishuHook configures Feishu's webhook: plain HTTP on this machine, behind a proxy that speaks TLS.
type FeishuHook struct {
	Listen string `json:"listen" default:"127.0.0.1:8445" rule:"listen" about:"Address that the proxy in front passes requests on to."`
	Path   string `json:"path" default:"/feishu" rule:"urlPath" about:"Path of the request address that is set in the developer console."`
}

// Group configures one Feishu group that the bot works in.
type Group struct {
	Access       string `json:"access" default:"open" words:"owner paired open" about:"Which members may talk to the bot; everybody by default, as listing the group lets it in."`
	Addressed    string `json:"addressed" default:"mention" words:"mention all always" about:"Answer when mentioned or replied to, or every message, which is all; always is its older name."`
	GroupContext *int   `json:"groupContext,omitempty" min:"0" max:"200" about:"Wins over the platform's groupContext."`
}

// RateLimit bounds how fast the bot sends to Feishu.
type RateLimit struct {
	PerSecond         Limit `json:"perSecond" default:"50" about:"Sends per second over all chats."`
	PerChatPerSecond  Limit `json:"perChatPerSecond" default:"5" about:"Sends per second into one chat."`
	PerGroupPerMinute Limit `json:"perGroupPerMinute" about:"Sends per minute into one group, in addition to perChatPerSecond."`
}

// Web configures the web chat.
type Web struct {
	Enabled     bool   `json:"enabled" default:"true" about:"Serve the web chat and its pages."`
	Listen      string `json:"listen" default:"127.0.0.1:3000" rule:"listen" about:"Address to listen on. Anything but loopback needs a token."`
	Token       Secret `json:"token,omitzero" variable:"WEB_TOKEN" about:"Token that people log in with; without one, sma run makes one and keeps it in its state folder."`
	ViewerToken Secret `json:"viewerToken,omitzero" variable:"WEB_VIEWER_TOKEN" about:"Token that only opens the console: states, counts and costs, but no texts and no orders."`
	Egress      string `json:"egress" default:"direct" words:"tool direct" about:"How answers leave; wins over context.chatEgress.mode."`
}

// CLI configures the terminal chat.
type CLI struct {
	Enabled bool   `json:"enabled" default:"true" about:"Let sma chat attach to the running host."`
	Egress  string `json:"egress" default:"direct" words:"tool direct" about:"How answers leave; wins over context.chatEgress.mode."`
}

// API configures the HTTP API.
type API struct {
	Enabled bool   `json:"enabled" about:"Serve the API. Unset: once token is set."`
	Token   Secret `json:"token,omitzero" variable:"API_TOKEN" about:"Bearer token of the API, always needed; write ${API_TOKEN}."`
	Egress  string `json:"egress" default:"direct" words:"tool direct" about:"How answers leave; wins over context.chatEgress.mode."`
}
