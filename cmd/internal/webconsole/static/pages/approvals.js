// The page approvals.
export default { id: 'approvals', title: 'Approvals', owner: true, async show() {} };
