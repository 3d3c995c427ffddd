// A question in a dialog of the page: yes or no, or a line of text.
const $ = (id) => document.getElementById(id);

let settle = () => {}; // the question that has no answer yet

// ask resolves to false for no, and otherwise to true, or to the text where one is asked for.
// A yes without a text is for good, and looks like it.
export function ask(question, yes, text) {
  const dialog = $('ask');
  settle(false); // the browser may not have told yet that the one before was closed
  $('question').textContent = question;
  $('yes').textContent = yes;
  $('yes').classList.toggle('danger', text === undefined);
  $('answer').hidden = text === undefined;
  $('answer').value = text ?? '';
  dialog.returnValue = 'no';
  // Enter in the line means yes; the first button of a form would be meant otherwise.
  $('answer').onkeydown = (e) => {
    if (e.key !== 'Enter' || e.isComposing) return;
    e.preventDefault();
    dialog.close('yes');
  };
  dialog.onclose = () => {
    if (!dialog.open) settle(dialog.returnValue === 'yes' && (text === undefined || $('answer').value));
  };
  return new Promise((done) => {
    settle = done; // a promise takes its first answer only
    dialog.showModal();
  });
}
