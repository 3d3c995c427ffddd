// What useChat has no call for.

const address = id => `/api/chat/${encodeURIComponent(id)}`;

/** The messages of a chat, without the one under way: resuming brings that one. */
export async function historyOf(id) {
  const response = await fetch(address(id));
  return response.ok ? await response.json() : []; // a chat begins with its first message
}

/** Ends the run under way. */
export const stopRun = id => fetch(`${address(id)}/stop`, { method: 'POST' });
