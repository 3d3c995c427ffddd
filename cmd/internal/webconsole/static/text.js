// The language of the reader, and the words that several pages use.
export const language = (navigator.languages?.[0] ?? navigator.language ?? 'en').toLowerCase().startsWith('zh') ? 'zh' : 'en';

export const words = (en, zh) => (language === 'zh' ? zh : en);

export const t = words({
  menu: 'Pages', skip: 'Skip to the page', toChat: 'Chat page', logout: 'Log out', viewer: 'read only, no texts', open: 'demonstration, read only', loading: 'Loading…', none: 'Nothing here.', offline: 'The host cannot be reached. Trying again.', failed: 'That did not work', forbidden: 'Your login may not see this page.',
  cancel: 'Cancel', save: 'Save', remove: 'Remove', search: 'Search', all: 'all', name: 'Name', state: 'State', up: 'up', down: 'down', off: 'off', more: 'More', approve: 'Approve', deny: 'Deny', retry: 'Send again', drop: 'Drop', revoke: 'Revoke',
  chat: 'Chat', model: 'Model', tool: 'Tool', tokens: 'Tokens', cost: 'Cost',
}, {
  menu: '页面', skip: '跳到页面内容', toChat: '聊天页面', logout: '退出', viewer: '只读，不含文字', open: '演示，只读', loading: '正在加载…', none: '这里没有内容。', offline: '无法连接主机，正在重试。', failed: '操作未成功', forbidden: '你的登录不能查看此页面。',
  cancel: '取消', save: '保存', remove: '移除', search: '搜索', all: '全部', name: '名称', state: '状态', up: '正常', down: '中断', off: '已停用', more: '更多', approve: '批准', deny: '拒绝', retry: '重新发送', drop: '放弃', revoke: '撤销',
  chat: '聊天', model: '模型', tool: '工具', tokens: 'token 数', cost: '费用',
});
