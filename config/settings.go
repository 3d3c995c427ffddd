package config

// The values of enums that code refers to.
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
)

// Settings are the effective settings of a project: ship.json completed by the
// environment, flags and defaults. The JSON names are the keys of ship.json.
//
// The types and their struct tags are the table of all keys. Decoding, defaults, checks, variables, flags, hints and
// the JSON Schema are derived from it. The tags of a key are:
//
//   - json: its name. A string with omitempty may be empty, meaning "not set".
//   - default: its value if nothing sets it, as text.
//   - jsonschema: its range (minimum and maximum) or its words (enum).
//   - rule: the check of its text, by a name in rules.go. For a list the items are checked,
//     for a map the keys.
//   - variable: the environment variable that is proposed for a secret.
//   - reach: "address" if a value that the folder sets needs `sma trust`.
//   - jsonschema_description: one or more sentences for people.
//
// The variable SMA_… of a key follows from its name, see [EnvName].
type Settings struct {
	Schema      string `json:"$schema,omitempty" jsonschema_description:"Where editors find the schema of this file."`
	Name        string `json:"name,omitempty" jsonschema_description:"Name of the project, shown to the model and on pages. Default: the name of its folder."`
	Version     string `json:"version,omitempty" jsonschema_description:"Version of the project, for people."`
	Description string `json:"description,omitempty" jsonschema_description:"What the project is for, for people."`
	Timezone    string `json:"timezone,omitempty" rule:"timezone" jsonschema_description:"Time zone of the project as an IANA name such as Asia/Shanghai. Default: the host's."`

	LLM         LLM             `json:"llm" jsonschema_description:"The language model."`
	Context     ContextSettings `json:"context" jsonschema_description:"What a chat keeps, sends to the model and remembers."`
	Limits      Limits          `json:"limits" jsonschema_description:"What the host holds in memory."`
	Skills      Skills          `json:"skills" jsonschema_description:"Where skills are found, in addition to .ship/skills and .claude/skills."`
	Permissions Permissions     `json:"permissions" jsonschema_description:"What tools may do."`
	Adapters    Adapters        `json:"adapters" jsonschema_description:"The places where people chat."`
	Speech      Speech          `json:"speech" jsonschema_description:"Voice messages."`
	Budget      Budget          `json:"budget" jsonschema_description:"Spending limits. They have no effect yet."`
	Metrics     Metrics         `json:"metrics" jsonschema_description:"The metrics endpoint."`
	Log         Log             `json:"log" jsonschema_description:"The log of the process."`
	Retention   Retention       `json:"retention" jsonschema_description:"How long things are kept that the chats no longer need."`
}

// LLM configures the language model and its fallbacks.
type LLM struct {
	Provider          string     `json:"provider" default:"demo" jsonschema:"enum=openai,enum=deepseek,enum=anthropic,enum=gemini,enum=mistral,enum=groq,enum=xai,enum=openrouter,enum=together,enum=moonshot,enum=zhipu,enum=dashscope,enum=siliconflow,enum=minimax,enum=ollama,enum=lmstudio,enum=vllm,enum=custom,enum=demo" jsonschema_description:"Whose API is called. All but demo speak chat completions; custom needs baseUrl; ollama, lmstudio and vllm are servers on this machine. Unset: openai once its key, a base URL or a model is given, else deepseek or anthropic once its own variable is set with a model (deepseek has a default), else the built-in demo model."`
	Model             string     `json:"model,omitempty" jsonschema_description:"Name of the model as its provider spells it."`
	BaseURL           string     `json:"baseUrl,omitempty" reach:"address" jsonschema_description:"Root of the API, up to and with its version. Default: the provider's; OPENAI_BASE_URL counts for openai and custom."`
	APIKey            Secret     `json:"apiKey,omitzero" variable:"OPENAI_API_KEY" jsonschema_description:"Key of the API; write ${OPENAI_API_KEY}. OPENAI_API_KEY counts by itself for openai and custom, and for any other provider its own variable, such as GEMINI_API_KEY or MISTRAL_API_KEY: at the service's own address, on this machine, and at an address that the operator sets."`
	Fallbacks         []Fallback `json:"fallbacks,omitempty" jsonschema_description:"Models asked in this order when the one before cannot answer."`
	MaxOutputTokens   int        `json:"maxOutputTokens" jsonschema:"minimum=0,maximum=10000000" jsonschema_description:"Longest answer of one call in tokens; 0 leaves it to the model."`
	ContextWindow     int        `json:"contextWindow" jsonschema:"minimum=0,maximum=100000000" jsonschema_description:"The model's context window in tokens; 0 means unknown."`
	FirstByteS        int        `json:"firstByteS" default:"60" jsonschema:"minimum=1,maximum=3600" jsonschema_description:"Seconds that a model may take to begin its answer; then the next fallback is asked. Default: 60, or 15 when there are fallbacks."`
	IdleTimeoutS      int        `json:"idleTimeoutS" default:"120" jsonschema:"minimum=1,maximum=3600" jsonschema_description:"Seconds without a byte after which an answer that has begun counts as cut off."`
	MaxConcurrency    int        `json:"maxConcurrency" default:"512" jsonschema:"minimum=1,maximum=65536" jsonschema_description:"Model calls in progress at once, over all chats."`
	RequestsPerMinute Limit      `json:"requestsPerMinute" jsonschema_description:"Model calls started per minute, over all chats."`

	Organization  string            `json:"organization,omitempty" jsonschema_description:"Sent as OpenAI-Organization."`
	APIVersion    string            `json:"apiVersion,omitempty" jsonschema_description:"The api-version of an Azure OpenAI resource, such as 2024-10-21. baseUrl is then the address of the resource, model the name of the deployment, and the key is sent as api-key."`
	Headers       map[string]Secret `json:"headers,omitempty" jsonschema_description:"Further headers of every request; values may be ${NAME}."`
	Query         map[string]Secret `json:"query,omitempty" jsonschema_description:"Query parameters of every request; values may be ${NAME}."`
	Tools         bool              `json:"tools" default:"true" jsonschema_description:"Whether the model takes tools. One that refuses them is found out and asked without them until the next start."`
	ReasoningTags Tags              `json:"reasoningTags,omitempty" rule:"tag" jsonschema_description:"Names of the tags around reasoning in the text of answers, such as think for <think>; true means think. What they enclose is kept as reasoning and not shown as the answer."`

	Models map[string]ModelSettings `json:"models,omitempty" jsonschema_description:"Facts and settings of single models, by the name of the model."`
}

// Fallback is a model that is used when another fails. [Load] completes its base URL and key from its provider, or
// from the main model if they use the same API.
type Fallback struct {
	Provider string `json:"provider" jsonschema:"enum=openai,enum=deepseek,enum=anthropic,enum=gemini,enum=mistral,enum=groq,enum=xai,enum=openrouter,enum=together,enum=moonshot,enum=zhipu,enum=dashscope,enum=siliconflow,enum=minimax,enum=ollama,enum=lmstudio,enum=vllm,enum=custom" jsonschema_description:"Whose API is called; unset: the main model's."`
	Model    string `json:"model" jsonschema:"required" jsonschema_description:"Name of the model."`
	BaseURL  string `json:"baseUrl,omitempty" reach:"address" jsonschema_description:"Root of the API. Default: the provider's, or the main model's of the same provider."`
	APIKey   Secret `json:"apiKey,omitzero" variable:"FALLBACK_API_KEY" jsonschema_description:"Key of the API. Default: the main model's, if the API is the same."`

	Organization string            `json:"organization,omitempty" jsonschema_description:"As llm.organization. This and the next three default to the main model's if the API is the same."`
	APIVersion   string            `json:"apiVersion,omitempty" jsonschema_description:"As llm.apiVersion."`
	Headers      map[string]Secret `json:"headers,omitempty" jsonschema_description:"As llm.headers."`
	Query        map[string]Secret `json:"query,omitempty" jsonschema_description:"As llm.query."`
}

// ModelSettings are the settings of one model.
type ModelSettings struct {
	ContextWindow   int      `json:"contextWindow,omitempty" jsonschema:"minimum=0,maximum=100000000" jsonschema_description:"Context window in tokens; wins over llm.contextWindow."`
	MaxOutputTokens int      `json:"maxOutputTokens,omitempty" jsonschema:"minimum=0,maximum=10000000" jsonschema_description:"Longest answer in tokens; wins over llm.maxOutputTokens."`
	TokensParam     string   `json:"tokensParam,omitempty" jsonschema:"enum=max_tokens,enum=max_completion_tokens" jsonschema_description:"The request field in which the API wants maxOutputTokens."`
	Temperature     *float64 `json:"temperature,omitempty" jsonschema:"minimum=0,maximum=2" jsonschema_description:"Sampling temperature; unset leaves it to the model."`
	ReasoningEffort string   `json:"reasoningEffort,omitempty" jsonschema:"enum=none,enum=minimal,enum=low,enum=medium,enum=high,enum=xhigh" jsonschema_description:"How long the model thinks; unset leaves it to the model."`
	FirstByteS      int      `json:"firstByteS,omitempty" jsonschema:"minimum=0,maximum=3600" jsonschema_description:"Seconds until an answer has to begin; wins over llm.firstByteS."`
	Tools           *bool    `json:"tools,omitempty" jsonschema_description:"Whether the model takes tools; wins over llm.tools."`
	ReasoningTags   Tags     `json:"reasoningTags,omitempty" rule:"tag" jsonschema_description:"Wins over llm.reasoningTags."`
	Images          *bool    `json:"images,omitempty" jsonschema_description:"Whether the model is sent pictures. Unset: by its name; one that is not known is sent them until its provider refuses."`
	Files           *bool    `json:"files,omitempty" jsonschema_description:"Whether the model is sent PDF documents. Unset: as with images."`
	Encoding        string   `json:"encoding,omitempty" jsonschema:"enum=o200k_base,enum=cl100k_base" jsonschema_description:"Tokenizer used for estimates; unset: chosen by the model's name. No effect yet."`
	USDPerMInput    float64  `json:"usdPerMInput,omitempty" jsonschema:"minimum=0,maximum=100000" jsonschema_description:"Price of a million input tokens in US dollars. No effect yet."`
	USDPerMCached   float64  `json:"usdPerMCached,omitempty" jsonschema:"minimum=0,maximum=100000" jsonschema_description:"Price of a million input tokens read from the provider's cache. No effect yet."`
	USDPerMOutput   float64  `json:"usdPerMOutput,omitempty" jsonschema:"minimum=0,maximum=100000" jsonschema_description:"Price of a million output tokens in US dollars. No effect yet."`
}

// ContextSettings is the block context of ship.json.
type ContextSettings struct {
	History      History      `json:"history" jsonschema_description:"The history of a chat and its compaction."`
	ChatQueue    ChatQueue    `json:"chatQueue" jsonschema_description:"Messages that arrive during a run."`
	Contexts     Contexts     `json:"contexts" jsonschema_description:"Snapshots of a chat that can be left and loaded again."`
	Memory       Memory       `json:"memory" jsonschema_description:"Facts kept across compactions."`
	AgentContext AgentContext `json:"agentContext" jsonschema_description:"Summaries of past runs."`
	ChatEgress   ChatEgress   `json:"chatEgress" jsonschema_description:"How answers leave."`
}

// History configures what compaction keeps.
type History struct {
	KeepLastMessages     int         `json:"keepLastMessages" default:"30" jsonschema:"minimum=2,maximum=5000" jsonschema_description:"Turns that a compaction keeps as they are."`
	MaxInputTokensApprox TokenBudget `json:"maxInputTokensApprox" default:"12000" jsonschema_description:"Estimated tokens of system text and history above which a chat is compacted; auto is 60 % of the model's context window."`
	ArchiveOnCompact     bool        `json:"archiveOnCompact" default:"true" jsonschema_description:"Keep the folded turns byte for byte in the chat's archive."`
}

// ChatQueue configures the queue of a chat.
type ChatQueue struct {
	Mode       string `json:"mode" default:"merge" jsonschema:"enum=merge,enum=followup,enum=interrupt" jsonschema_description:"What a message does that arrives during a run: merge into it at the next step, wait for the next run, or stop the run."`
	DebounceMS int    `json:"debounceMs" jsonschema:"minimum=0,maximum=60000" jsonschema_description:"Milliseconds an idle chat waits for more messages before it starts a run."`
	MaxQueued  int    `json:"maxQueued" default:"200" jsonschema:"minimum=1,maximum=10000" jsonschema_description:"Turns that may wait in one chat; more are declined with one notice."`
	Fairness   string `json:"fairness" default:"sender" jsonschema:"enum=sender,enum=arrival" jsonschema_description:"Who is declined when the queue is full: the sender with most waiting turns, or whoever comes last."`
}

// Contexts configures context snapshots.
type Contexts struct {
	Enabled            bool `json:"enabled" default:"true" jsonschema_description:"Offer the tools and commands of context snapshots."`
	SearchTextMaxChars int  `json:"searchTextMaxChars" default:"12000" jsonschema:"minimum=200,maximum=1000000" jsonschema_description:"Longest text of a snapshot that its search index holds."`
}

// Memory configures a chat's memory.
type Memory struct {
	AutoExtractEnabled   bool `json:"autoExtractEnabled" default:"true" jsonschema_description:"Extract facts from the history by themselves."`
	ExtractMinEntries    int  `json:"extractMinEntries" default:"40" jsonschema:"minimum=1,maximum=10000" jsonschema_description:"New turns after which facts are extracted."`
	MaxPrimaryChars      int  `json:"maxPrimaryChars" default:"15000" jsonschema:"minimum=500,maximum=1000000" jsonschema_description:"Longest Primary.md of a chat."`
	CompressOnOverflow   bool `json:"compressOnOverflow" default:"true" jsonschema_description:"Condense a Primary.md that grew too long."`
	BackupBeforeCompress bool `json:"backupBeforeCompress" default:"true" jsonschema_description:"Keep a copy of it first."`
	// Groups says what the memory of a group stores automatically.
	Groups string `json:"groups" default:"auto" jsonschema:"enum=auto,enum=ask,enum=off" jsonschema_description:"What the memory of a group takes by itself. auto: what its members said, quoted and with who said it; ask: nothing, only memory_upsert writes, which asks a person; off: nothing, and what was taken before is not read."`

	EmbeddingModel string `json:"embeddingModel,omitempty" jsonschema_description:"Embedding model of llm's API, with which memory_search also finds what is said in other words; the facts are sent there. Unset: words alone."`
}

// AgentContext configures the summaries of past runs.
type AgentContext struct {
	WindowEntries int `json:"windowEntries" default:"200" jsonschema:"minimum=1,maximum=100000" jsonschema_description:"Run summaries kept per chat."`
}

// ChatEgress configures how answers leave a chat.
type ChatEgress struct {
	Mode                   string `json:"mode" default:"auto" jsonschema:"enum=auto,enum=tool,enum=direct" jsonschema_description:"For platforms whose own egress is not set: tool answers through chat_send, direct sends the text itself, auto is each platform's habit."`
	ChatSendMaxCallsPerRun int    `json:"chatSendMaxCallsPerRun" default:"30" jsonschema:"minimum=1,maximum=1000" jsonschema_description:"chat_send calls of one run, after which tools are off."`
	Idempotency            bool   `json:"idempotency" default:"true" jsonschema_description:"Send the same text only once per message answered."`
}

// Limits bounds what the host keeps in memory.
type Limits struct {
	ActiveChats int   `json:"activeChats" default:"10000" jsonschema:"minimum=1,maximum=10000000" jsonschema_description:"Chats kept in memory; the longest idle ones are put to rest first."`
	ResidentMB  Limit `json:"residentMB" jsonschema_description:"Memory of the process in megabytes above which idle chats are put to rest."`
	FileMB      int   `json:"fileMB" default:"20" jsonschema:"minimum=0,maximum=2000" jsonschema_description:"Largest file in megabytes that is taken from people; 0: none are."`
}

// Retention says after how many days files are removed; 0 keeps them.
type Retention struct {
	LogsDays     int `json:"logsDays" jsonschema:"minimum=0,maximum=36500" jsonschema_description:"Days that logs of MCP servers are kept; 0: for good."`
	AuditDays    int `json:"auditDays" jsonschema:"minimum=0,maximum=36500" jsonschema_description:"Days that audit logs are kept; 0: for good."`
	ArchivesDays int `json:"archivesDays" jsonschema:"minimum=0,maximum=36500" jsonschema_description:"Days that archives are kept of what left the histories of chats; 0: for good."`
	FilesDays    int `json:"filesDays" jsonschema:"minimum=0,maximum=36500" jsonschema_description:"Days that files of chats and whole outputs of tools are kept; 0: for good."`
}

// Skills says where further skills are found.
type Skills struct {
	Paths              []string `json:"paths,omitempty" rule:"folder" jsonschema_description:"Folders with skills, relative to the project."`
	AllowExternalPaths bool     `json:"allowExternalPaths" jsonschema_description:"Accept folders outside the project."`
}

// Permissions configures what tools may do.
type Permissions struct {
	Exec  Exec  `json:"exec" jsonschema_description:"Shell commands."`
	Fetch Fetch `json:"fetch" jsonschema_description:"Pages of the web."`
}

// Fetch configures web_fetch.
type Fetch struct {
	Allow []string `json:"allow,omitempty" rule:"host" jsonschema_description:"Hosts whose pages are fetched without asking: example.org, *.example.org for all below it, or * for every host. Addresses can carry what the model knows."`
}

// Exec configures exec_shell and its approvals.
type Exec struct {
	Sandbox   string   `json:"sandbox" default:"auto" jsonschema:"enum=auto,enum=landlock,enum=bubblewrap,enum=off" jsonschema_description:"What confines commands. auto takes what the system has and refuses to run without; off runs them unconfined."`
	Network   string   `json:"network" default:"off" jsonschema:"enum=off,enum=on" jsonschema_description:"Whether commands reach the network."`
	Allow     []string `json:"allow,omitempty" rule:"command" jsonschema_description:"Command rules that run without asking, such as git status, or ls * for any operands."`
	Deny      []string `json:"deny,omitempty" rule:"command" jsonschema_description:"Command rules that are refused without asking."`
	Exclude   []string `json:"exclude,omitempty" rule:"inside" jsonschema_description:"Folders of the project that commands do not find at all and that are not looked through for files to hide, such as data/archive."`
	Approvers []string `json:"approvers,omitempty" default:"owner" rule:"approver" jsonschema_description:"Who may approve: owner, initiator (who asked for it), platformAdmins, or the ids of people, never names."`
}

// Budget limits spending. Days are those of the project's time zone. It has no effect yet; [Load] warns about every
// key that is set.
type Budget struct {
	RunTokens        Limit   `json:"runTokens" jsonschema_description:"Tokens of one run. No effect yet."`
	ChatTokensPerDay Limit   `json:"chatTokensPerDay" jsonschema_description:"Tokens of one chat per day. No effect yet."`
	HostTokensPerDay Limit   `json:"hostTokensPerDay" jsonschema_description:"Tokens of all chats per day. No effect yet."`
	USDPerRun        Dollars `json:"usdPerRun" jsonschema_description:"US dollars of one run; needs the prices of the model in llm.models. No effect yet."`
	USDPerChatPerDay Dollars `json:"usdPerChatPerDay" jsonschema_description:"US dollars of one chat per day; needs prices. No effect yet."`
	USDPerHostPerDay Dollars `json:"usdPerHostPerDay" jsonschema_description:"US dollars of all chats per day; needs prices. No effect yet."`
}

// Metrics configures the metrics listener.
type Metrics struct {
	Listen string `json:"listen" default:"127.0.0.1:9464" rule:"listenOrOff" jsonschema_description:"Address of /metrics and the health endpoints, or off."`
}

// Log configures the log of the process.
type Log struct {
	Level  string `json:"level" default:"info" jsonschema:"enum=debug,enum=info,enum=warn,enum=error" jsonschema_description:"Least level that is written."`
	Format string `json:"format" default:"auto" jsonschema:"enum=auto,enum=text,enum=json" jsonschema_description:"auto is text on a terminal and JSON elsewhere."`
}
