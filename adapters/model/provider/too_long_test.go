package provider

import (
	"net/http"
	"testing"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/model"
)

// The texts with which providers say that a context does not fit. The same request must not be
// retried after any of them.
func TestRL5TooLongSpellings(t *testing.T) {
	for _, tt := range []struct {
		who    string
		status int // 0: inside a stream
		body   string
	}{
		{"openai", 400, `{"error":{"message":"This model's maximum context length is 8192 tokens.","type":"invalid_request_error","code":"context_length_exceeded"}}`},
		{"openai responses", 400, `{"error":{"message":"Your input exceeds the context window of this model.","code":"context_length_exceeded"}}`},
		{"openai, one string", 400, `{"error":{"message":"Invalid 'messages[1].content': string too long.","code":"string_above_max_length"}}`},
		{"openai, per minute", 429, `{"error":{"message":"Request too large for gpt-x on tokens per min (TPM): Limit 30000, Requested 46000.","code":"rate_limit_exceeded"}}`},
		{"openai, in the stream", 0, `{"message":"too much","code":"context_length_exceeded"}`},
		{"anthropic", 400, `{"error":{"message":"prompt is too long: 210000 tokens > 200000 maximum","type":"invalid_request_error"}}`},
		{"anthropic, with output", 400, "{\"error\":{\"message\":\"input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000\"}}"},
		{"anthropic, bytes", 413, `{"error":{"type":"request_too_large","message":"Request exceeds the maximum size"}}`},
		{"bedrock", 400, `{"message":"Input is too long for requested model."}`},
		{"bedrock, counted", 400, `{"message":"Too many input tokens. Max input tokens: 8192, request input token count: 9279"}`},
		{"gemini", 400, `[{"error":{"code":400,"message":"The input token count (9) exceeds the maximum number of tokens allowed (5).","status":"INVALID_ARGUMENT"}}]`},
		{"vertex", 400, `{"error":{"message":"Unable to submit request because the input token count is 40000 but model only supports up to 32768"}}`},
		{"mistral", 422, `{"message":"Prompt contains 40000 tokens, too large for model with 32768 maximum context length"}`},
		{"groq", 400, `{"error":{"message":"Please reduce the length of the messages or completion."}}`},
		{"cerebras", 400, `{"error":{"message":"Current length is 9000 while limit is 8192","code":"context_length_exceeded"}}`},
		{"xai", 400, `{"error":"This model's maximum prompt length is 131072 but the request contains 140000 tokens."}`},
		{"cohere", 400, `{"message":"too many tokens: total number of tokens in the prompt cannot exceed 4081"}`},
		{"openrouter", 400, `{"error":{"message":"This endpoint's maximum context length is 32768 tokens. However, you requested about 40000 tokens","code":400}}`},
		{"openrouter, of another service", 400, `{"error":{"message":"Provider returned error","code":400,"metadata":{"raw":"{\"error\":{\"message\":\"This model's maximum context length is 262144 tokens. However, your messages resulted in 262897 tokens.\",\"type\":\"Bad Request\",\"code\":400}}","provider_name":"Nvidia"}}}`},
		{"openrouter, in the stream", 0, `{"message":"Provider returned error","code":400,"metadata":{"raw":"{\"code\":\"context_length_exceeded\"}"}}`},
		{"together", 422, "{\"error\":{\"message\":\"Input validation error: `inputs` tokens + `max_new_tokens` must be <= 8193\"}}"},
		{"github", 413, `{"error":{"code":"tokens_limit_reached","message":"Request body too large. Max size: 8000 tokens."}}`},
		{"copilot", 400, `{"error":{"message":"prompt token count of 70000 exceeds the limit of 64000","code":"model_max_prompt_tokens_exceeded"}}`},
		{"moonshot", 400, `{"error":{"message":"Invalid request: Your request exceeded model token limit: 8192"}}`},
		{"qwen", 400, `{"error":{"message":"Range of input length should be [1, 30720]"}}`},
		{"zhipu", 400, `{"error":{"code":"1261","message":"Prompt 超长"}}`},
		{"qianfan", 400, `{"error":{"message":"prompt tokens too long","code":"invalid_argument"}}`},
		{"qianfan, characters", 400, `{"error_code":336007,"error":{"message":"the max input characters is 20000"}}`},
		{"ark", 400, `{"error":{"message":"Total tokens of image and text exceed max message tokens"}}`},
		{"minimax", 400, `{"error":{"message":"invalid params, context window exceeds limit (2013)"}}`},
		{"siliconflow", 400, `{"code":20015,"message":"length of prompt_tokens (40000) must be less than max_seq_len (32768)."}`},
		{"vllm", 400, `{"object":"error","message":"The decoder prompt (length 5000) is longer than the maximum model length of 4096."}`},
		{"sglang", 400, `{"error":{"message":"The input (5000 tokens) is longer than the model's context length (4096 tokens)."}}`},
		{"llama.cpp", 400, `{"error":{"type":"exceed_context_size_error","message":"request exceeds the available context size"}}`},
		{"lm studio", 400, `{"error":"Trying to keep the first 9000 tokens when context overflows. However, the model is loaded with context length of only 4096 tokens"}`},
		{"ollama", 500, `{"error":{"message":"the input length exceeds the context length"}}`},
		{"nim", 400, `{"message":"Prompt length (9000) exceeds maximum input length (8192)"}`},
		{"a proxy", 413, ``},
	} {
		t.Run(tt.who, func(t *testing.T) {
			m := newMasker(nil)
			var e *model.Error
			if tt.status == 0 {
				e = m.objectError([]byte(tt.body))
			} else {
				e = m.statusError(tt.status, http.Header{}, []byte(tt.body), time.Time{})
			}
			if e.Reason != model.ReasonTooLong || e.Retryable {
				t.Errorf("got %s, again %t", e.Reason, e.Retryable)
			}
		})
	}
}
