// The page chat.
export default { id: 'chat', title: 'chat', owner: true, async show() {} };
