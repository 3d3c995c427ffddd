// The page tasks.
export default { id: 'tasks', title: 'Tasks', owner: true, async show() {} };
