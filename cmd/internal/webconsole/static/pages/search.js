// The page search.
export default { id: 'search', title: 'search', owner: true, async show() {} };
