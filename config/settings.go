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

	AtLimitPause   = "pause"
	AtLimitAsk     = "ask"
	AtLimitCheaper = "cheaper"
)

// Settings are the effective settings of a project: ship.json completed by the
// environment, flags and defaults. The JSON names are the keys of ship.json.
//
// The types and their struct tags are the table of all keys; package keys explains the tags. Decoding, defaults, checks,
// variables, flags, hints and the JSON Schema are derived from it. The variable SMA_… of a key follows from its name,
// see [EnvName].
type Settings struct {
	Schema      string `json:"$schema,omitempty" about:"Where editors find the schema of this file."`
	Name        string `json:"name,omitempty" about:"Name of the project, shown to the model and on pages. Default: the name of its folder."`
	Version     string `json:"version,omitempty" about:"Version of the project, for people."`
	Description string `json:"description,omitempty" about:"What the project is for, for people."`
	Timezone    string `json:"timezone,omitempty" rule:"timezone" about:"Time zone of the project as an IANA name such as Asia/Shanghai. Default: the host's."`

	LLM         LLM             `json:"llm" about:"The language model."`
	Context     ContextSettings `json:"context" about:"What a chat keeps, sends to the model and remembers."`
	Limits      Limits          `json:"limits" about:"What the host holds in memory."`
	Skills      Skills          `json:"skills" about:"Where skills are found, in addition to .ship/skills and .claude/skills."`
	Permissions Permissions     `json:"permissions" about:"What tools may do."`
	Adapters    Adapters        `json:"adapters" about:"The places where people chat."`
	Speech      Speech          `json:"speech" about:"Voice messages."`
	Budget      Budget          `json:"budget" about:"Spending limits. Hours, days and months are those of the calendar in the project's time zone."`
	Metrics     Metrics         `json:"metrics" about:"The metrics endpoint."`
	Traces      Traces          `json:"traces" about:"What is sent to an OpenTelemetry collector."`
	Log         Log             `json:"log" about:"The log of the process."`
	Retention   Retention       `json:"retention" about:"How long things are kept that the chats no longer need."`
}

// LLM configures the language model and its fallbacks.
type LLM struct {
	Provider          string     `json:"provider" default:"demo" words:"openai deepseek anthropic gemini mistral groq xai openrouter together moonshot zhipu dashscope siliconflow minimax ollama lmstudio vllm custom demo" about:"Whose API is called, with the protocol that api says; custom needs baseUrl; ollama, lmstudio and vllm are servers on this machine. Unset: openai once its key, a base URL or a model is given, else deepseek or anthropic once its own variable is set with a model (deepseek has a default), else the built-in demo model."`
	API               string     `json:"api,omitempty" words:"chat responses messages" about:"The protocol of the requests: chat completions, OpenAI's responses or Anthropic's messages. Unset: by provider and model; chat for a provider or model that is not known."`
	Model             string     `json:"model,omitempty" about:"Name of the model as its provider spells it."`
	BaseURL           string     `json:"baseUrl,omitempty" reach:"address" about:"Root of the API, up to and with its version. Default: the provider's; OPENAI_BASE_URL counts for openai and custom."`
	APIKey            Secret     `json:"apiKey,omitzero" variable:"OPENAI_API_KEY" about:"Key of the API; write ${OPENAI_API_KEY}. OPENAI_API_KEY counts by itself for openai and custom, and for any other provider its own variable, such as GEMINI_API_KEY or MISTRAL_API_KEY: at the service's own address, on this machine, and at an address that the operator sets."`
	Fallbacks         []Fallback `json:"fallbacks,omitempty" about:"Models asked in this order when the one before cannot answer."`
	Choices           []Fallback `json:"choices,omitempty" about:"Models that people can choose for a chat with /model, by their names. The names vision, summary and memory are the host's: for messages with pictures when the model of the chat takes none, for summaries of long chats, and for what is remembered. When one of them cannot answer, the main model does."`
	MaxOutputTokens   int        `json:"maxOutputTokens" min:"0" max:"10000000" about:"Longest answer of one call in tokens; 0 leaves it to the model, or means its limit where the protocol wants a number."`
	ContextWindow     int        `json:"contextWindow" min:"0" max:"100000000" about:"The model's context window in tokens; 0 means what the catalog knows of the model, see sma models."`
	FirstByteS        int        `json:"firstByteS" default:"60" min:"1" max:"3600" about:"Seconds that a model may take to begin its answer; then the next fallback is asked. Default: 60, or 15 when there are fallbacks."`
	IdleTimeoutS      int        `json:"idleTimeoutS" default:"120" min:"1" max:"3600" about:"Seconds without a byte after which an answer that has begun counts as cut off."`
	MaxConcurrency    int        `json:"maxConcurrency" default:"512" min:"1" max:"65536" about:"Model calls in progress at once, over all chats."`
	RequestsPerMinute Limit      `json:"requestsPerMinute" about:"Model calls started per minute, over all chats."`

	Organization  string            `json:"organization,omitempty" about:"Sent as OpenAI-Organization."`
	APIVersion    string            `json:"apiVersion,omitempty" rule:"apiVersion" about:"The api-version of an Azure OpenAI resource, such as 2024-10-21. baseUrl is then the address of the resource, model the name of the deployment, and the key is sent as api-key."`
	Headers       map[string]Secret `json:"headers,omitempty" rule:"modelHeader" about:"Further headers of every request; values may be ${NAME}."`
	Query         map[string]Secret `json:"query,omitempty" rule:"parameter" about:"Query parameters of every request; values may be ${NAME}."`
	Tools         bool              `json:"tools" default:"true" about:"Whether the model takes tools. One that refuses them is found out and asked without them until the next start."`
	ReasoningTags Tags              `json:"reasoningTags,omitempty" rule:"tag" about:"Names of the tags around reasoning in the text of answers, such as think for <think>; true means think. What they enclose is kept as reasoning and not shown as the answer."`

	Models map[string]ModelSettings `json:"models,omitempty" about:"Facts and settings of single models, by the name of the model."`
}

// Fallback is a model that is used when another fails, or that is chosen. [Load] completes its base URL and key from its provider, or
// from the main model if they use the same API.
type Fallback struct {
	Name     string `json:"name,omitempty" about:"In llm.choices: the short name by which the model is chosen."`
	Provider string `json:"provider" words:"openai deepseek anthropic gemini mistral groq xai openrouter together moonshot zhipu dashscope siliconflow minimax ollama lmstudio vllm custom" about:"Whose API is called; unset: the main model's."`
	API      string `json:"api,omitempty" words:"chat responses messages" about:"As llm.api. Unset: as llm.api is set, if the API is the same, else by provider and model."`
	Model    string `json:"model" required:"true" about:"Name of the model."`
	BaseURL  string `json:"baseUrl,omitempty" reach:"address" about:"Root of the API. Default: the provider's, or the main model's of the same provider."`
	APIKey   Secret `json:"apiKey,omitzero" variable:"FALLBACK_API_KEY" about:"Key of the API. Default: the main model's, if the API is the same."`

	Organization string            `json:"organization,omitempty" about:"As llm.organization. This and the next three default to the main model's if the API is the same."`
	APIVersion   string            `json:"apiVersion,omitempty" rule:"apiVersion" about:"As llm.apiVersion."`
	Headers      map[string]Secret `json:"headers,omitempty" rule:"modelHeader" about:"As llm.headers."`
	Query        map[string]Secret `json:"query,omitempty" rule:"parameter" about:"As llm.query."`
}

// ModelSettings are the settings of one model.
type ModelSettings struct {
	ContextWindow   int      `json:"contextWindow,omitempty" min:"0" max:"100000000" about:"Context window in tokens; wins over llm.contextWindow."`
	MaxOutputTokens int      `json:"maxOutputTokens,omitempty" min:"0" max:"10000000" about:"Longest answer in tokens; wins over llm.maxOutputTokens."`
	Temperature     *float64 `json:"temperature,omitempty" min:"0" max:"2" about:"Sampling temperature; unset leaves it to the model."`
	ReasoningEffort string   `json:"reasoningEffort,omitempty" words:"none minimal low medium high xhigh max" about:"How long the model thinks; unset leaves it to the model."`
	FirstByteS      int      `json:"firstByteS,omitempty" min:"0" max:"3600" about:"Seconds until an answer has to begin; wins over llm.firstByteS."`
	Tools           *bool    `json:"tools,omitempty" about:"Whether the model takes tools; wins over llm.tools."`
	ReasoningTags   Tags     `json:"reasoningTags,omitempty" rule:"tag" about:"Wins over llm.reasoningTags."`
	Images          *bool    `json:"images,omitempty" about:"Whether the model is sent pictures. Unset: what the catalog knows of the model; one that is not known is sent them until its provider refuses."`
	Files           *bool    `json:"files,omitempty" about:"Whether the model is sent PDF documents. Unset: as with images."`
	USDPerMInput    float64  `json:"usdPerMInput,omitempty" min:"0" max:"100000" about:"Price of a million input tokens in US dollars. With usdPerMOutput it replaces the catalog's prices of the model, and alone that of an embedding model."`
	USDPerMCached   float64  `json:"usdPerMCached,omitempty" min:"0" max:"100000" about:"Price of a million input tokens read from the provider's cache; unset: as usdPerMInput."`
	USDPerMOutput   float64  `json:"usdPerMOutput,omitempty" min:"0" max:"100000" about:"Price of a million output tokens in US dollars."`
}

// ContextSettings is the block context of ship.json.
type ContextSettings struct {
	History      History      `json:"history" about:"The history of a chat and its compaction."`
	ChatQueue    ChatQueue    `json:"chatQueue" about:"Messages that arrive during a run."`
	Contexts     Contexts     `json:"contexts" about:"Snapshots of a chat that can be left and loaded again."`
	Memory       Memory       `json:"memory" about:"Facts kept across compactions."`
	AgentContext AgentContext `json:"agentContext" about:"Summaries of past runs."`
	ChatEgress   ChatEgress   `json:"chatEgress" about:"How answers leave."`
}

// History configures what compaction keeps.
type History struct {
	KeepLastMessages     int         `json:"keepLastMessages" default:"30" min:"2" max:"5000" about:"Turns that a compaction keeps as they are."`
	MaxInputTokensApprox TokenBudget `json:"maxInputTokensApprox" default:"12000" about:"Estimated tokens of system text and history above which a chat is compacted; auto is 60 % of the model's context window."`
	ArchiveOnCompact     bool        `json:"archiveOnCompact" default:"true" about:"Keep the compacted turns byte for byte in the chat's archive."`
}

// ChatQueue configures the queue of a chat.
type ChatQueue struct {
	Mode       string `json:"mode" default:"merge" words:"merge followup interrupt" about:"What a message does that arrives during a run: merge into it at the next step, wait for the next run, or stop the run."`
	DebounceMS int    `json:"debounceMs" min:"0" max:"60000" about:"Milliseconds an idle chat waits for more messages before it starts a run."`
	MaxQueued  int    `json:"maxQueued" default:"200" min:"1" max:"10000" about:"Turns that may wait in one chat; more are declined with one notice."`
	Fairness   string `json:"fairness" default:"sender" words:"sender arrival" about:"Who is declined when the queue is full: the sender with most waiting turns, or whoever comes last."`
}

// Contexts configures context snapshots.
type Contexts struct {
	Enabled            bool `json:"enabled" default:"true" about:"Offer the tools and commands of context snapshots."`
	SearchTextMaxChars int  `json:"searchTextMaxChars" default:"12000" min:"200" max:"1000000" about:"Longest text of a snapshot that its search index holds."`
}

// Memory configures a chat's memory.
type Memory struct {
	AutoExtractEnabled   bool `json:"autoExtractEnabled" default:"true" about:"Extract facts from the history by themselves."`
	ExtractMinEntries    int  `json:"extractMinEntries" default:"40" min:"1" max:"10000" about:"New turns after which facts are extracted."`
	MaxPrimaryChars      int  `json:"maxPrimaryChars" default:"15000" min:"500" max:"1000000" about:"Longest Primary.md of a chat."`
	CompressOnOverflow   bool `json:"compressOnOverflow" default:"true" about:"Condense a Primary.md that grew too long."`
	BackupBeforeCompress bool `json:"backupBeforeCompress" default:"true" about:"Keep a copy of it first."`
	// Groups says what the memory of a group stores automatically.
	Groups string `json:"groups" default:"auto" words:"auto ask off" about:"What the memory of a group takes by itself. auto: what its members said, quoted and with who said it; ask: nothing, only memory_upsert writes, which asks a person; off: nothing, and what was taken before is not read."`

	EmbeddingModel string `json:"embeddingModel,omitempty" about:"Embedding model of llm's API, with which memory_search also finds what is said in other words; the facts are sent there. Unset: words alone."`
}

// AgentContext configures the summaries of past runs.
type AgentContext struct {
	WindowEntries int `json:"windowEntries" default:"200" min:"1" max:"100000" about:"Run summaries kept per chat."`
}

// ChatEgress configures how answers leave a chat.
type ChatEgress struct {
	Mode                   string `json:"mode" default:"auto" words:"auto tool direct" about:"For platforms whose own egress is not set: tool answers through chat_send, direct sends the text itself, auto is each platform's habit."`
	ChatSendMaxCallsPerRun int    `json:"chatSendMaxCallsPerRun" default:"30" min:"1" max:"1000" about:"chat_send calls of one run, after which tools are off."`
	Idempotency            bool   `json:"idempotency" default:"true" about:"Send the same text only once per message answered."`
}

// Limits bounds what the host keeps in memory.
type Limits struct {
	ActiveChats int   `json:"activeChats" default:"10000" min:"1" max:"10000000" about:"Chats kept in memory; the longest idle ones are put to rest first."`
	ResidentMB  Limit `json:"residentMB" about:"Memory of the process in megabytes above which idle chats are put to rest."`
	FileMB      int   `json:"fileMB" default:"20" min:"0" max:"2000" about:"Largest file in megabytes that is taken from people; 0: none are."`
}

// Retention says after how many days things are removed; 0 keeps them.
type Retention struct {
	LogsDays     int `json:"logsDays" min:"0" max:"36500" about:"Days that logs of MCP servers are kept; 0: for good."`
	AuditDays    int `json:"auditDays" min:"0" max:"36500" about:"Days that audit logs are kept, and what models were used for; 0: for good."`
	ArchivesDays int `json:"archivesDays" min:"0" max:"36500" about:"Days that archives are kept of what left the histories of chats, and copies of memories from before they were condensed; 0: for good."`
	FilesDays    int `json:"filesDays" min:"0" max:"36500" about:"Days that files of chats and whole outputs of tools are kept; 0: for good."`
	TasksDays    int `json:"tasksDays" default:"90" min:"0" max:"36500" about:"Days that the runs of tasks are kept, each of which is a chat of its own; 0: for good."`
}

// Skills says where further skills are found.
type Skills struct {
	Paths              []string `json:"paths,omitempty" rule:"folder" about:"Folders with skills, relative to the project."`
	AllowExternalPaths bool     `json:"allowExternalPaths" about:"Accept folders outside the project."`
}

// Permissions configures what tools may do.
type Permissions struct {
	Exec  Exec  `json:"exec" about:"Shell commands."`
	Fetch Fetch `json:"fetch" about:"Pages of the web."`
}

// Fetch configures web_fetch.
type Fetch struct {
	Allow []string `json:"allow,omitempty" rule:"host" about:"Hosts whose pages are fetched without asking: example.org, *.example.org for all below it, or * for every host. Addresses can carry what the model knows."`
}

// Exec configures exec_shell and its approvals.
type Exec struct {
	Sandbox   string   `json:"sandbox" default:"auto" words:"auto landlock bubblewrap off" about:"What confines commands. auto takes what the system has and refuses to run without; off runs them unconfined."`
	Network   string   `json:"network" default:"off" words:"off on" about:"Whether commands reach the network."`
	Allow     []string `json:"allow,omitempty" rule:"command" about:"Command rules that run without asking, such as git status, or ls * for any operands."`
	Deny      []string `json:"deny,omitempty" rule:"command" about:"Command rules that are refused without asking."`
	Exclude   []string `json:"exclude,omitempty" rule:"inside" about:"Folders of the project that commands do not find at all and that are not looked through for files to hide, such as data/archive."`
	Approvers []string `json:"approvers,omitempty" default:"owner" rule:"approver" about:"Who may approve: owner, initiator (who asked for it), platformAdmins, or the ids of people, never names."`
}

// Budget limits spending. Hours, days and months are those of the calendar in the project's time zone. A limit in dollars
// needs the prices of all models.
type Budget struct {
	RunTokens            Limit   `json:"runTokens" about:"Tokens of one run, the answer to one or more messages: input and output of all its requests."`
	ChatTokensPerDay     Limit   `json:"chatTokensPerDay" about:"Tokens of one chat per day, with summaries and memory."`
	HostTokensPerDay     Limit   `json:"hostTokensPerDay" about:"Tokens of all chats per day."`
	PersonTokensPerDay   Limit   `json:"personTokensPerDay" about:"Tokens of one person, whose messages began the runs, in all chats per day."`
	PersonTokensPerHour  Limit   `json:"personTokensPerHour" about:"Tokens of one person, whose messages began the runs, in all chats per hour."`
	ChatTokensPerHour    Limit   `json:"chatTokensPerHour" about:"Tokens of one chat per hour."`
	HostTokensPerHour    Limit   `json:"hostTokensPerHour" about:"Tokens of all chats per hour."`
	PersonTokensPerMonth Limit   `json:"personTokensPerMonth" about:"Tokens of one person, whose messages began the runs, in all chats per month."`
	ChatTokensPerMonth   Limit   `json:"chatTokensPerMonth" about:"Tokens of one chat per month."`
	HostTokensPerMonth   Limit   `json:"hostTokensPerMonth" about:"Tokens of all chats per month."`
	USDPerRun            Dollars `json:"usdPerRun" about:"US dollars of one run. Limits in dollars need the prices of all models, from the catalog or llm.models."`
	USDPerChatPerDay     Dollars `json:"usdPerChatPerDay" about:"US dollars of one chat per day."`
	USDPerHostPerDay     Dollars `json:"usdPerHostPerDay" about:"US dollars of all chats per day."`
	USDPerPersonPerDay   Dollars `json:"usdPerPersonPerDay" about:"US dollars of one person, whose messages began the runs, in all chats per day."`
	USDPerPersonPerHour  Dollars `json:"usdPerPersonPerHour" about:"US dollars of one person, whose messages began the runs, in all chats per hour."`
	USDPerChatPerHour    Dollars `json:"usdPerChatPerHour" about:"US dollars of one chat per hour."`
	USDPerHostPerHour    Dollars `json:"usdPerHostPerHour" about:"US dollars of all chats per hour."`
	USDPerPersonPerMonth Dollars `json:"usdPerPersonPerMonth" about:"US dollars of one person, whose messages began the runs, in all chats per month."`
	USDPerChatPerMonth   Dollars `json:"usdPerChatPerMonth" about:"US dollars of one chat per month."`
	USDPerHostPerMonth   Dollars `json:"usdPerHostPerMonth" about:"US dollars of all chats per month."`

	AtLimit        string `json:"atLimit" default:"pause" words:"pause ask cheaper" about:"What happens at a limit. pause: nothing is asked until it is free again or raised; ask: the same, and the owner is asked whether as much again may be used; cheaper: the model that cheaper names is asked."`
	Cheaper        string `json:"cheaper,omitempty" about:"Name of one of llm.choices, which is asked when a limit keeps other models from being asked."`
	CheaperPercent int    `json:"cheaperPercent" default:"20" min:"1" max:"1000" about:"How much more than every limit may be used with the cheaper model, in percent of the limit. What is used with other models counts."`
}

// Metrics configures the metrics listener.
type Metrics struct {
	Listen string `json:"listen" default:"127.0.0.1:9464" rule:"listenOrOff" about:"Address of /metrics and the health endpoints, or off."`
	Pprof  bool   `json:"pprof" about:"Also serve /debug/pprof/heap, profile and goroutine there; listen must be loopback."`
}

// Traces configures an OpenTelemetry collector.
type Traces struct {
	Endpoint  string            `json:"endpoint,omitempty" rule:"baseUrl" reach:"address" about:"Root of a collector that takes OTLP over HTTP, such as http://127.0.0.1:4318. It gets names, durations and counts, never texts. Empty: nothing is sent."`
	Headers   map[string]Secret `json:"headers,omitempty" rule:"modelHeader" about:"Headers of every request to it; values may be ${NAME}."`
	Propagate bool              `json:"propagate" about:"Also send the header traceparent with model calls, so that the spans of a gateway belong to the same trace."`
}

// Log configures the log of the process.
type Log struct {
	Level  string `json:"level" default:"info" words:"debug info warn error" about:"Least level that is written."`
	Format string `json:"format" default:"auto" words:"auto text json" about:"auto is text on a terminal and JSON elsewhere."`
}
