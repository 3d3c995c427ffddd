// Copying, also where the browser keeps its clipboard from pages without TLS.
import { t } from './text.js';

async function write(text) {
  if (navigator.clipboard) return navigator.clipboard.writeText(text);
  const box = document.createElement('textarea');
  box.value = text;
  box.className = 'hidden';
  document.body.append(box);
  box.select();
  const done = document.execCommand('copy');
  box.remove();
  if (!done) throw new Error('not copied');
}

// copy copies a text and says so on the button that asked for it.
export async function copy(text, button) {
  const word = button.textContent;
  try {
    await write(text);
    button.textContent = t.copied;
  } catch {
    button.textContent = t.notCopied;
  }
  button.focus();
  setTimeout(() => { button.textContent = word; }, 2000);
}
