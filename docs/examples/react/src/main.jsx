import { createRoot } from 'react-dom/client';
import { App } from './app.jsx';
import { historyOf } from './host.js';

// The chat is in the address, so that a reload and a second tab find it again.
const id = location.hash.slice(1) || crypto.randomUUID();
history.replaceState(null, '', `#${id}`);
addEventListener('hashchange', () => location.reload());

createRoot(document.getElementById('root')).render(<App id={id} messages={await historyOf(id)} />);
