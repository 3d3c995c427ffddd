// The language of the reader, and the words that several pages use.
export const language = (navigator.languages?.[0] ?? navigator.language ?? 'en').toLowerCase().startsWith('zh') ? 'zh' : 'en';

// words chooses the language of a tree whose leaves are [English, Chinese], or the same in both.
export function words(of) {
  if (Array.isArray(of)) return of[language === 'zh' ? 1 : 0];
  return of instanceof Object && typeof of !== 'function' ? Object.fromEntries(Object.entries(of).map(([k, v]) => [k, words(v)])) : of;
}

export const t = words({
  menu: ['Pages', '页面'], skip: ['Skip to the page', '跳到页面内容'], toChat: ['Chat page', '聊天页面'], logout: ['Log out', '退出'], viewer: ['read only, no texts', '只读，不含文字'],
  open: ['demonstration, read only', '演示，只读'], loading: ['Loading…', '正在加载…'], working: ['Still at work…', '仍在处理…'], paused: ['paused', '已暂停'], none: ['Nothing here.', '这里没有内容。'],
  offline: ['The host cannot be reached. Trying again.', '无法连接主机，正在重试。'], failed: ['That did not work', '操作未成功'],
  forbidden: ['Your login may not see this page.', '你的登录不能查看此页面。'], cancel: ['Cancel', '取消'], save: ['Save', '保存'], remove: ['Remove', '移除'], search: ['Search', '搜索'],
  all: ['all', '全部'], name: ['Name', '名称'], state: ['State', '状态'], up: ['up', '正常'], down: ['down', '中断'], off: ['off', '已停用'], more: ['More', '更多'],
  approve: ['Approve', '批准'], deny: ['Deny', '拒绝'], retry: ['Send again', '重新发送'], drop: ['Drop', '放弃'], revoke: ['Revoke', '撤销'], chat: ['Chat', '聊天'],
  model: ['Model', '模型'], size: ['Size', '大小'], running: ['running', '运行中'], tool: ['Tool', '工具'], tokens: ['Tokens', 'token 数'], cost: ['Cost', '费用'],
});

// texts are the words of a page and those that several pages use.
export const texts = (own) => ({ ...t, ...words(own) });
