// The chats that this browser knows. Only ids and titles are kept, no secrets.
const key = 'sma.chats';

export function remembered() {
  try {
    const list = JSON.parse(localStorage.getItem(key) ?? '[]');
    return Array.isArray(list) ? list.filter((c) => typeof c?.id === 'string' && typeof c.title === 'string') : [];
  } catch {
    return [];
  }
}

export function drop(id) {
  try {
    localStorage.setItem(key, JSON.stringify(remembered().filter((c) => c.id !== id)));
  } catch {
    // A browser that keeps nothing has nothing to forget.
  }
}

export function remember(id, title) {
  try {
    const list = [{ id, title }, ...remembered().filter((c) => c.id !== id)].slice(0, 200);
    localStorage.setItem(key, JSON.stringify(list));
  } catch {
    // A browser that keeps nothing still chats.
  }
}
