package config

// Speech configures voice messages in both directions. Without a model or command, nothing that people say is sent
// elsewhere for it.
type Speech struct {
	Transcribe Transcribe `json:"transcribe" about:"Voice messages of people, as text."`
	Speak      Speak      `json:"speak" about:"Answers as voice messages, with the tool tts_speak."`
}

// Transcribe configures how voice messages become text.
type Transcribe struct {
	Model          string   `json:"model,omitempty" about:"Model that turns recordings into text, such as gpt-4o-mini-transcribe or whisper-1. Unset, and no command either: voice messages stay files, and the model is informed."`
	BaseURL        string   `json:"baseUrl,omitempty" reach:"address" about:"Root of the API that has /audio/transcriptions, the only place recordings are sent to. Default: llm's."`
	APIKey         Secret   `json:"apiKey,omitzero" variable:"SPEECH_API_KEY" about:"Key of that API; write ${SPEECH_API_KEY}. Default: llm's, if the API is the same."`
	Command        []string `json:"command,omitempty" about:"Program and arguments used instead of a model, such as [\"whisper-cli\", \"-m\", \"/models/ggml-base.bin\", \"-nt\", \"-f\", \"{file}\"]. {file} is the recording, {language} the language; what it writes is the text. It runs in the sandbox, without network."`
	Read           []string `json:"read,omitempty" about:"Files and folders that the command may read, in addition to the system's and those its arguments name."`
	Language       string   `json:"language,omitempty" rule:"language" about:"Language that is mostly spoken, such as en or zh; unset: found out."`
	MaxMB          int      `json:"maxMB" default:"20" min:"1" max:"100" about:"Largest recording in megabytes that is listened to."`
	MaxSeconds     int      `json:"maxSeconds" default:"600" min:"1" max:"7200" about:"Longest recording in seconds that is listened to."`
	MaxConcurrency int      `json:"maxConcurrency" default:"4" min:"1" max:"256" about:"Recordings listened to at once, over all chats."`
	TimeoutS       int      `json:"timeoutS" default:"90" min:"1" max:"150" about:"Seconds one recording may take."`
	USDPerMinute   float64  `json:"usdPerMinute,omitempty" min:"0" max:"1000" about:"Price of a minute of recordings in US dollars, for budget. Limits in dollars need it if model is set."`
}

// Speak configures how text becomes voice messages.
type Speak struct {
	Model          string   `json:"model,omitempty" about:"Model that speaks, such as gpt-4o-mini-tts or tts-1. Unset, and no command either: the tool tts_speak is not offered."`
	Voice          string   `json:"voice" default:"alloy" about:"Voice, as the API names it."`
	BaseURL        string   `json:"baseUrl,omitempty" reach:"address" about:"Root of the API that has /audio/speech. Default: llm's."`
	APIKey         Secret   `json:"apiKey,omitzero" variable:"SPEECH_API_KEY" about:"Key of that API; write ${SPEECH_API_KEY}. Default: llm's, if the API is the same."`
	Command        []string `json:"command,omitempty" about:"Program and arguments used instead of a model. It reads the text and writes a recording, to {output} or to its output; Opus in Ogg becomes a voice message, MP3 and WAV a file. {voice} is the voice. It runs in the sandbox, without network."`
	Read           []string `json:"read,omitempty" about:"Files and folders that the command may read, in addition to the system's and those its arguments name."`
	Format         string   `json:"format" default:"opus" words:"opus mp3" about:"Format asked of the API. Only opus becomes a voice message."`
	MaxChars       int      `json:"maxChars" default:"2000" min:"1" max:"4096" about:"Longest text of one voice message."`
	MaxConcurrency int      `json:"maxConcurrency" default:"4" min:"1" max:"256" about:"Texts spoken at once, over all chats."`
	TimeoutS       int      `json:"timeoutS" default:"60" min:"1" max:"100" about:"Seconds one text may take."`
	USDPerMChars   float64  `json:"usdPerMChars,omitempty" min:"0" max:"100000" about:"Price of a million characters of text in US dollars, for budget. Limits in dollars need it if model is set."`
}

// On reports whether recordings become text.
func (t Transcribe) On() bool { return t.Model != "" || len(t.Command) > 0 }

// On reports whether text becomes recordings.
func (s Speak) On() bool { return s.Model != "" || len(s.Command) > 0 }

// voiceAPI are the settings that both directions share.
type voiceAPI struct {
	block, model string
	baseURL      *string
	key          *Secret
	command      []string
	read         []string
}

func (s *Speech) apis() []voiceAPI {
	t, k := &s.Transcribe, &s.Speak
	return []voiceAPI{
		{"speech.transcribe", t.Model, &t.BaseURL, &t.APIKey, t.Command, t.Read},
		{"speech.speak", k.Model, &k.BaseURL, &k.APIKey, k.Command, k.Read},
	}
}
