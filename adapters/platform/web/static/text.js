// Every string that people read, in the language of their browser. A time of another day has its date.
export const clock = (at) => {
  const time = new Date(at);
  const day = time.toDateString() === new Date().toDateString() ? {} : { month: 'short', day: 'numeric' };
  return time.toLocaleString(navigator.languages, { ...day, hour: '2-digit', minute: '2-digit' });
};

const en = {
  skip: 'Skip to the message field', chats: 'Chats', newChat: 'New chat', older: 'Older chats', filter: 'Search chats', messages: 'Messages',
  hello: 'What can I do for you?', helloHint: 'You can keep writing while I answer. What you add joins the answer in progress.',
  placeholder: 'Write a message', send: 'Send', stop: 'Stop', cancel: 'Cancel', console: 'Console', logout: 'Log out', you: 'You', rename: 'Rename', forget: 'Delete',
  renameAsk: 'Title of this chat:', renameYes: 'Save', forgetYes: 'Delete for good', forgotten: 'The chat was deleted.',
  forgetAsk: (title) => `Delete ${title ? `the chat “\u2068${title}\u2069”` : 'this chat'} for good? Its messages, archives, memory, files and tasks are deleted. This cannot be undone.`,
  assistant: 'Assistant',
  summary: 'Summary of earlier messages', demo: 'demo model', demoHint: 'A built-in model without intelligence. Set a model key to get real answers.',
  sending: 'sending', waiting: 'waiting: joins the answer at its next step', failed: 'not sent', retry: 'Try again',
  merged: 'joined the answer in progress', mergedAt: (n) => `joined the answer at step ${n}`, goesOn: 'continues with your new message',
  attach: 'Add files', attached: 'Added files', uploading: (n) => `uploading, ${n} %`, removeFile: (name) => `Remove ${name}`,
  fileTooLarge: (mb) => `too large: at most ${mb} MB`, tooManyFiles: (n) => `a message holds at most ${n} files`, filesWait: 'A file is still on its way.', filesFailed: 'Remove the files that were not accepted, or choose others.',
  step: (n) => `Step ${n}`, thinking: 'Thinking', source: 'Source', file: 'File',
  input: 'Input', output: 'Result', compaction: 'Earlier messages were condensed.',
  edit: 'Edit', regenerate: 'Answer again', copy: 'Copy', copied: 'Copied', notCopied: 'Not copied', editing: 'You are editing an earlier message. What follows it will be replaced.',
  approve: 'Approve', deny: 'Deny', asks: 'Request for approval', approved: 'approved', denied: 'denied',
  endOf: { expired: 'expired, not executed', withdrawn: 'withdrawn, not executed' }, by: (state, name, approved) => (approved ? `${state}, approved by ${name}` : `${state} by ${name}`),
  asked: (n, by, until) => `#${n}${by ? `, asked by ${by}` : ''}, expires at ${clock(until)}`,
  folder: (n, folder) => `/approve ${n} folder also allows all files directly in the folder “${folder}” for 60 minutes.`,
  asksFor: (tool) => `May I use “${tool}” with these values?`,
  decisionOf: { already: 'This was decided already.', expired: 'This request has expired. Nothing was done.', unknown: 'This request is not open.', forbidden: 'You may not decide this.', unseen: 'This could not be shown in its chat yet.' },
  offline: 'Connection lost, trying again', answering: 'The assistant is answering.', ready: 'The answer is complete.',
  stateOf: {
    'input-streaming': 'preparing', 'input-available': 'running', 'approval-requested': 'waiting for approval',
    'approval-responded': 'approved or denied', 'output-available': 'done', 'output-error': 'failed', 'output-denied': 'denied',
  },
  resultOf: { stopped: 'Stopped.', failed: 'The answer failed.', interrupted: 'Interrupted, outcome unknown.', waiting: 'Waiting for your decision.' },
  problem: {
    network: 'The host could not be reached.', busy: 'The chat is answering. Stop it or wait.', unavailable: 'The host accepts no messages now.',
    no_files: 'Files are not accepted here.', file_too_large: 'A file is too large.', unknown_file: 'The host no longer has a file. Add it again.', too_many_files: 'Too many files for one message.',
    too_large: 'The message is too large.', empty: 'The message is empty.', token_required: 'Please log in again.', other: 'That did not work',
  },
};

const zh = {
  skip: '跳到输入框', chats: '聊天', newChat: '新聊天', older: '更早的聊天', filter: '搜索聊天', messages: '消息',
  hello: '有什么可以帮你？', helloHint: '回答时你可以继续发消息，新消息会并入正在进行的回答。',
  placeholder: '输入消息', send: '发送', stop: '停止', cancel: '取消', console: '控制台', logout: '退出', you: '你', rename: '重命名', forget: '删除',
  renameAsk: '聊天标题：', renameYes: '保存', forgetYes: '永久删除', forgotten: '聊天已删除。',
  forgetAsk: (title) => `要永久删除${title ? `聊天“\u2068${title}\u2069”` : '这个聊天'}吗？其中的消息、归档、记忆、文件和任务都会删除，无法恢复。`,
  assistant: '助手',
  summary: '较早消息的摘要', demo: '演示模型', demoHint: '内置演示模型，没有智能。设置模型密钥后可获得真实回答。',
  sending: '发送中', waiting: '等待中：将在下一步并入回答', failed: '未发送', retry: '重试',
  merged: '已并入正在进行的回答', mergedAt: (n) => `在第 ${n} 步并入回答`, goesOn: '结合你的新消息继续',
  attach: '添加文件', attached: '已添加的文件', uploading: (n) => `上传中，${n}%`, removeFile: (name) => `移除 ${name}`,
  fileTooLarge: (mb) => `文件过大，最多 ${mb} MB`, tooManyFiles: (n) => `一条消息最多 ${n} 个文件`, filesWait: '还有文件正在上传。', filesFailed: '请移除未能上传的文件，或重新选择。',
  step: (n) => `第 ${n} 步`, thinking: '思考', source: '来源', file: '文件',
  input: '输入', output: '结果', compaction: '较早的消息已压缩。',
  edit: '编辑', regenerate: '重新回答', copy: '复制', copied: '已复制', notCopied: '未能复制', editing: '正在编辑较早的消息，其后的内容将被替换。',
  approve: '批准', deny: '拒绝', asks: '审批请求', approved: '已批准', denied: '已拒绝',
  endOf: { expired: '已失效，未执行', withdrawn: '已撤回，未执行' }, by: (state, name, approved) => `${state}（由 ${name} ${approved ? '批准' : '决定'}）`,
  asked: (n, by, until) => `#${n}${by ? `，发起人 ${by}` : ''}，${clock(until)} 前有效`,
  folder: (n, folder) => `发送 /approve ${n} folder 则在 60 分钟内同时允许发送直接位于文件夹“${folder}”中的所有文件。`,
  asksFor: (tool) => `可以用下面的参数使用“${tool}”吗？`,
  decisionOf: { already: '这个请求已经决定过了。', expired: '这个请求已失效，没有执行任何操作。', unknown: '这个请求已不存在。', forbidden: '你不能决定这个请求。', unseen: '这个请求还没有在聊天中显示。' },
  offline: '连接已断开，正在重试', answering: '助手正在回答。', ready: '回答已完成。',
  titleOf: { // of the tools whose titles are English
    exec_shell: '运行命令', shell_status: '查看进程', shell_read: '读取进程输出', shell_write: '向运行中的程序输入', shell_stop: '停止进程', web_fetch: '打开网页',
    read_file: '读取文件', write_file: '写入文件', edit_file: '修改文件', list_files: '列出文件', search_files: '搜索文件', skills_list: '列出技能', skills_load: '使用技能',
    task_list: '列出任务', task_create: '创建任务', task_update: '修改任务', task_cancel: '取消任务', task_run: '立即运行任务', memory_search: '查看记忆', memory_upsert: '记住',
    chat_contact_send: '给另一个聊天发消息', chat_history_search: '搜索这个聊天', agent_load_context: '回顾之前的运行', time_now: '查看时间', remember_note: '写笔记', stt_transcribe: '语音转文字', tts_speak: '朗读',
    chat_context_new: '开始新上下文', chat_context_list: '列出之前的上下文', chat_context_load: '载入之前的上下文', chat_context_recall: '读取之前的上下文', chat_context_clear_active: '清空上下文',
  },
  stateOf: {
    'input-streaming': '准备中', 'input-available': '运行中', 'approval-requested': '等待批准',
    'approval-responded': '已答复', 'output-available': '完成', 'output-error': '失败', 'output-denied': '已拒绝',
  },
  resultOf: { stopped: '已停止。', failed: '回答失败。', interrupted: '已中断，结果未知。', waiting: '等待你的决定。' },
  problem: {
    network: '无法连接主机。', busy: '这个聊天正在回答，请先停止或稍候。', unavailable: '主机暂不接收消息。',
    no_files: '这里不接收文件。', file_too_large: '文件过大。', unknown_file: '主机上已没有这个文件，请重新添加。', too_many_files: '一条消息里的文件太多。',
    too_large: '消息过大。', empty: '消息为空。', token_required: '请重新登录。', other: '操作未成功',
  },
};

export const language = (navigator.languages?.[0] ?? navigator.language ?? 'en').toLowerCase().startsWith('zh') ? 'zh' : 'en';
export const t = language === 'zh' ? zh : en;

// label fills in the strings of the static page.
export function label(root) {
  document.documentElement.lang = language;
  for (const e of root.querySelectorAll('[data-t]')) e.textContent = t[e.dataset.t];
  for (const e of root.querySelectorAll('[data-hint]')) e.placeholder = t[e.dataset.hint];
  for (const e of root.querySelectorAll('[data-label]')) e.setAttribute('aria-label', t[e.dataset.label]);
  for (const e of root.querySelectorAll('button[data-label]')) e.title = t[e.dataset.label]; // for those who see only its sign
}
