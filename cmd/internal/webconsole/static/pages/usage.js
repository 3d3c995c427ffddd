// The page usage.
export default { id: 'usage', title: 'Usage', owner: true, async show() {} };
