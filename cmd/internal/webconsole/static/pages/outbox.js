// The page outbox.
export default { id: 'outbox', title: 'Outbox', owner: true, async show() {} };
