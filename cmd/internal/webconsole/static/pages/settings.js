// The page settings.
export default { id: 'settings', title: 'Settings', owner: true, async show() {} };
