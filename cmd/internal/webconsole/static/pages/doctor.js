// The page doctor.
export default { id: 'doctor', title: 'Doctor', owner: true, async show() {} };
