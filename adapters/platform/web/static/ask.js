// A question in a dialog of the page: yes or no, or a line of text.
const $ = (id) => document.getElementById(id);

// ask resolves to false for no, and otherwise to true, or to the text where one is asked for.
export function ask(question, yes, text) {
  const dialog = $('ask');
  $('question').textContent = question;
  $('yes').textContent = yes;
  $('answer').hidden = text === undefined;
  $('answer').value = text ?? '';
  dialog.returnValue = 'no';
  // Enter in the line means yes; the first button of a form would be meant otherwise.
  $('answer').onkeydown = (e) => {
    if (e.key !== 'Enter' || e.isComposing) return;
    e.preventDefault();
    dialog.close('yes');
  };
  return new Promise((done) => {
    dialog.addEventListener('close', () => done(dialog.returnValue === 'yes' && (text === undefined || $('answer').value)), { once: true });
    dialog.showModal();
  });
}
