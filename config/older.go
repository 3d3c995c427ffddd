package config

// olderKeys lists the keys of earlier versions, one per line: the key and what to do instead, or -> and the key that
// replaces it. A block that is not listed itself is recognized by the keys in it.
const olderKeys = `
start.port set adapters.web.listen, such as "127.0.0.1:3000"
start.host set adapters.web.listen, such as "127.0.0.1:3000"
start.interactiveWeb set adapters.web.enabled
start.interactivePort pages and API share adapters.web.listen
llm.logMessages the texts of messages are never logged
llm.temperature set llm.models.<model>.temperature
llm.maxTokens set llm.maxOutputTokens
llm.topP nothing replaces it
llm.frequencyPenalty nothing replaces it
llm.presencePenalty nothing replaces it
llm.anthropicVersion nothing replaces it
permissions.read_repo reading inside the project is always possible
permissions.write_repo changes ask for an approval, see permissions.exec
permissions.exec_shell set permissions.exec.allow and permissions.exec.deny; what is in neither asks
permissions.open_pr changes ask for an approval, see permissions.exec
permissions.merge changes ask for an approval, see permissions.exec
integrations -> adapters
adapters.telegram.chatId the bot answers where it is addressed, see adapters.telegram.access and .groups
adapters.telegram.followupWindowMs adapters.telegram.groups says which messages of a group are answered
adapters.telegram.groupAccess set adapters.telegram.access
adapters.feishu.domain -> adapters.feishu.baseUrl
adapters.feishu.adminUserIds set permissions.exec.approvers
adapters.qq QQ is not supported
adapters.discord Discord is not supported
context.transcriptMaxMessages set context.history.keepLastMessages
context.transcriptMaxChars set context.history.maxInputTokensApprox
context.inMemoryMaxMessages set context.history.maxInputTokensApprox
context.compactKeepLastMessages -> context.history.keepLastMessages
context.history.transcriptMaxMessages set context.history.keepLastMessages
context.history.transcriptMaxChars set context.history.maxInputTokensApprox
context.history.inMemoryMaxMessages set context.history.maxInputTokensApprox
context.history.compactKeepLastMessages -> context.history.keepLastMessages
context.chatHistory.transcriptMaxMessages set context.history.keepLastMessages
context.chatHistory.transcriptMaxChars set context.history.maxInputTokensApprox
context.chatHistory.inMemoryMaxMessages set context.history.maxInputTokensApprox
context.chatHistory.compactKeepLastMessages -> context.history.keepLastMessages
context.contexts.activeMaxMessages snapshots are kept whole; set context.history.maxInputTokensApprox
context.contexts.activeMaxChars snapshots are kept whole; set context.history.maxInputTokensApprox
context.contexts.maxTurns snapshots are kept whole; set context.history.maxInputTokensApprox
context.contexts.maxChars snapshots are kept whole; set context.history.maxInputTokensApprox
context.chatQueue.enableCorrectionMerge set context.chatQueue.mode, which is "merge" by default, and context.chatQueue.maxQueued
context.chatQueue.correctionMaxRounds set context.chatQueue.mode, which is "merge" by default, and context.chatQueue.maxQueued
context.chatQueue.correctionMaxMergedMessages set context.chatQueue.mode, which is "merge" by default, and context.chatQueue.maxQueued
context.chatQueue.correctionMaxChars set context.chatQueue.mode, which is "merge" by default, and context.chatQueue.maxQueued
context.chatQueue.maxConcurrency chats no longer wait for each other; set llm.maxConcurrency
context.chatEgress.chatSendIdempotency -> context.chatEgress.idempotency
`
