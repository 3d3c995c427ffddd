// The page memory.
export default { id: 'memory', title: 'Memory', owner: true, async show() {} };
