// The page grants.
export default { id: 'grants', title: 'Grants', owner: true, async show() {} };
