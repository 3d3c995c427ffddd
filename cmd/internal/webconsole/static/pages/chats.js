// The page chats.
export default { id: 'chats', title: 'chats', owner: true, async show() {} };
