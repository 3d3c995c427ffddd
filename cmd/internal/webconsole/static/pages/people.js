// The page people.
export default { id: 'people', title: 'People', owner: true, async show() {} };
