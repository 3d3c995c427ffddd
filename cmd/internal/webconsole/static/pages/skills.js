// The page skills.
export default { id: 'skills', title: 'Skills', owner: true, async show() {} };
