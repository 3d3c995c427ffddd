// The page log.
export default { id: 'log', title: 'Log', owner: true, async show() {} };
