package config

// The words of the enums that code compares with.
const (
	ProviderOpenAI    = "openai"
	ProviderDeepSeek  = "deepseek"
	ProviderAnthropic = "anthropic"
	ProviderCustom    = "custom"
	ProviderDemo      = "demo"

	EgressAuto   = "auto"
	EgressTool   = "tool"
	EgressDirect = "direct"

	AccessPaired = "paired"
	AccessOpen   = "open"

	GroupsMention = "mention"
	GroupsAll     = "all"

	RateLimitStandard = "standard"

	// Off switches the metrics listener and Telegram's rate limit off.
	Off = "off"
)

// Default returns the settings of a project that sets nothing. They are valid:
// the demo model on the loopback web chat and the terminal.
func Default() Settings {
	return Settings{
		LLM: LLM{Provider: ProviderDemo, FirstByteS: 60, IdleTimeoutS: 120, MaxConcurrency: 512, Tools: true},
		Context: ContextSettings{
			History:      History{KeepLastMessages: 30, MaxInputTokensApprox: 12000, ArchiveOnCompact: true},
			ChatQueue:    ChatQueue{Mode: "merge", MaxQueued: 200, Fairness: "sender"},
			Contexts:     Contexts{Enabled: true, SearchTextMaxChars: 12000},
			Memory:       Memory{AutoExtractEnabled: true, ExtractMinEntries: 40, MaxPrimaryChars: 15000, CompressOnOverflow: true, BackupBeforeCompress: true, Groups: "auto"},
			AgentContext: AgentContext{WindowEntries: 200},
			ChatEgress:   ChatEgress{Mode: EgressAuto, ChatSendMaxCallsPerRun: 30, Idempotency: true},
		},
		Limits:      Limits{ActiveChats: 10000, FileMB: 20},
		Permissions: Permissions{Exec: Exec{Sandbox: "auto", Network: "off", Approvers: []string{"owner"}}},
		Adapters: Adapters{
			Telegram: Telegram{BaseURL: "https://api.telegram.org", Access: AccessPaired, Groups: GroupsMention, RateLimit: RateLimitStandard, Egress: EgressTool, Drafts: "edit", Webhook: Hook{Listen: "127.0.0.1:8443"}},
			Feishu:   Feishu{BaseURL: "https://open.feishu.cn", Receive: "connection", Webhook: FeishuHook{Listen: "127.0.0.1:8445", Path: "/feishu"}, Access: AccessPaired, RateLimit: RateLimit{PerSecond: 50, PerChatPerSecond: 5}, Egress: EgressTool, Drafts: "card"},
			Web:      Web{Enabled: true, Listen: "127.0.0.1:3000", Egress: EgressDirect},
			CLI:      CLI{Enabled: true, Egress: EgressDirect},
			API:      API{Egress: EgressDirect},
		},
		Speech:  defaultSpeech(),
		Metrics: Metrics{Listen: "127.0.0.1:9464"},
		Log:     Log{Level: "info", Format: "auto"},
	}
}

// setDefaults fills a group before its keys are read.
func (g *Group) setDefaults() { *g = Group{Access: AccessOpen, Addressed: "mention"} }
